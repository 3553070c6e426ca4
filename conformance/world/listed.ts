import type { Page } from "../judging/laws/pages.ts";
import { pageOf, unlessUndecided } from "./exchange.ts";
import type { Target } from "./target.ts";

/** Reads pages of the service's default size; `page` counts from 0, whatever number the service gives its first. */
export type ListReader = (filter: { readonly accountId?: string }, page: number) => Promise<Page | undefined>;

/** A listed notification, reduced to what identifies it. */
export interface Listed {
  readonly id: string;
  readonly accountId: string;
}

const MOST_PAGES = 40;

/** A reader with its own token, for preparing data; failures of the service read as an empty list. */
export const openList = async (options: {
  readonly target: Pick<Target, "list">;
  readonly accessToken: () => Promise<string>;
  readonly limits: { readonly defaultPage: number };
}): Promise<ListReader> => {
  const accessToken = await unlessUndecided(options.accessToken(), undefined);
  return async (filter, page) => {
    if (accessToken === undefined) return undefined;
    const answer = await unlessUndecided(
      options.target.list({ accessToken, query: { ...filter, page: options.limits.defaultPage + page } }),
      undefined,
    );
    return answer === undefined ? undefined : pageOf(answer);
  };
};

/** Walks pages of the service's default size until one brings nothing new; stops at a limit if the list never ends. */
export const readPages = async (
  read: ListReader,
  filter: { readonly accountId?: string },
): Promise<readonly Listed[]> => {
  const items = new Map<string, Listed>();
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const before = items.size;
    for (const { id, accountId } of (await read(filter, page))?.items ?? [])
      if (typeof id === "string" && typeof accountId === "string") items.set(id, { id, accountId });
    if (items.size === before) break;
  }
  return [...items.values()];
};

/** Ids listed for one account, without what a broken filter adds. */
export const readAccount = async (read: ListReader, accountId: string): Promise<readonly string[]> =>
  (await readPages(read, { accountId }))
    .filter((item) => item.accountId.toLowerCase() === accountId.toLowerCase())
    .map(({ id }) => id);
