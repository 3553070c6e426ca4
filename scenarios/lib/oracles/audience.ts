import type { Page } from "../../../conformance/judging/laws/pages.ts";
import type { Account } from "./account.ts";
import type { ListQuery } from "./pages.ts";

type Seen = Pick<Account, "seen">;
type Items = Pick<Page, "items">;

/**
 * Which clients are shown notifications. Those of the accounts that a virtual user writes to may belong to the first
 * client alone, so what another one is not shown of them proves nothing until it was shown some; and a service may
 * refuse a list of nothing. `listed`: clients that the preflight saw get a list.
 */
export const createAudience = (listed: readonly string[], defaultLimit: number) => {
  const [shownAccounts, shownAny] = [new Set(listed), new Set(listed)];
  return {
    /** Notes what a page shows this client. */
    shows: (client: string, { items }: Items): void => {
      if (items.length > 0) shownAny.add(client);
    },
    /** Whether a page of the account that this client got can be judged. */
    sees: (client: string, { seen }: Seen, { items }: Items): boolean => {
      if (seen.size > 0 || items.length > 0) shownAccounts.add(client);
      return shownAccounts.has(client);
    },
    /**
     * Whether the page of this query may have nothing on it, so that a refusal is as good as an empty page and says
     * nothing of the token. An id is only looked up if it was seen.
     */
    mayBeNothing: (
      client: string,
      { id, accountId, limit = defaultLimit, page = 0 }: ListQuery,
      account?: Seen,
    ): boolean => {
      const isOfAccount = account !== undefined && accountId !== undefined;
      const least = Math.max(account?.seen.size ?? 0, !isOfAccount && shownAny.has(client) ? 1 : 0);
      return id === undefined && least <= limit * page;
    },
  };
};
