import { keyCost } from "../lifetimes/store/vault.ts";

/** What a key of a ledger costs in tests that are not about it: some milliseconds in place of a third of a second. */
export const quickKey: typeof keyCost = { ...keyCost, N: 2 ** 10 };
