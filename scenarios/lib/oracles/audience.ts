import type { Page } from "../../../conformance/judging/laws/pages.ts";
import type { Account } from "./account.ts";

/**
 * Which clients are shown notifications of the accounts that a virtual user writes to. They may belong to the first
 * client alone, so what another one is not shown proves nothing until it was shown some.
 */
export const createAudience = (firstClient: string | undefined) => {
  const shown = new Set([firstClient]);
  return {
    /** Whether a page of the account that this client got can be judged. */
    sees: (client: string, { seen }: Pick<Account, "seen">, { items }: Pick<Page, "items">): boolean => {
      if (seen.size > 0 || items.length > 0) shown.add(client);
      return shown.has(client);
    },
  };
};
