import { keyCost } from "../lifetimes/store/store.ts";

/** A cheap key for tests that are not about ledger keys: milliseconds instead of a third of a second. */
export const quickKey: typeof keyCost = { ...keyCost, N: 2 ** 10 };
