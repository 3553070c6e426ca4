import { limitText, pagesIn, printLength } from "../arbitraries/paging.ts";
import { allHold, fail, expectThat, pass, discard } from "../judging/case-verdict.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { asked, expected, type ListQuery } from "../judging/laws/lists.ts";
import { changeBreach } from "../judging/laws/notification.ts";
import { difference, fold, sameSet } from "../judging/laws/pages.ts";
import {
  greatestLimit,
  openLists,
  readPages,
  vouchedLimit,
  whileSteady,
  whileTotalStands,
  cutListHolds,
} from "./shared/lists.ts";
import type { Rules, Judge } from "../checks/rule.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { knownIn, oneByOne, printRead, readAll, readOne, type Read } from "./notification-reads.ts";

/** Section 4.4: all pages of a list together, and pages past the end. */
export const notificationPageRules = {
  "notifications.pages-partition": {
    needs: ["notifications"],
    check: async (world, run) => {
      const greatest = await greatestLimit(world);
      const { accounts } = world.prepared.notifications;
      const telling = accounts
        .slice(0, 2)
        .flatMap(({ accountId }) =>
          [undefined, ...tellingWalks]
            .filter((limit) => (limit ?? 1) <= greatest)
            .map((limit): Read => ({ query: { accountId, limit } })),
        );
      const whole = [Math.min(7, greatest), undefined, vouchedLimit(world, greatest)];
      return run.all([
        run.forEach(telling, pagesArePartition, { part: "telling limits", print: printRead(world) }),
        run.forEach(whole, pagesOfAllAreDisjoint, { part: "unfiltered", print: limitText }),
        run.forEach([accounts[0], undefined], cutPagesLoseNothing, {
          part: "above the maximum",
          print: (account) => (account === undefined ? "the whole list" : printLength(account)),
        }),
        run.forEach([2], readsAlikeByEveryFilter, { part: "every filter" }),
      ]);
    },
  },

  "notifications.past-the-end": {
    needs: ["notifications"],
    check: async (world, run) => {
      const greatest = await greatestLimit(world);
      const { accounts } = world.prepared.notifications;
      const { defaultLimit } = world.limits;
      const near = accounts.flatMap(({ accountId, ids }, index) =>
        [undefined, 8, ids.length]
          .filter((limit) => (limit ?? 1) <= greatest)
          .map((limit) =>
            beyond(world, { accountId, limit }, index < 2 ? farPages(limit ?? defaultLimit) : nearPages),
          ),
      );
      const single = accounts
        .slice(0, 2)
        .map(({ accountId, ids: [id = ""] }) =>
          [{ id }, { id, limit: 1 }, { id, accountId }].flatMap((query) =>
            [1, 2, 50].map((page): Read => ({ query: { ...query, page } })),
          ),
        );
      return run.all([
        run.forEach(near, nothingPastTheEnd, { part: "near and far", ...oneByOne(world) }),
        run.forEach(single, nothingAfterASingleItem, { part: "id filter", ...oneByOne(world) }),
        run.forEach([undefined, 1], nothingFarPastAll, { part: "unfiltered" }),
      ]);
    },
  },
} satisfies Rules;

/** Limits with small and with different divisors, odd and even. */
const tellingWalks = [5, 7, 8, 9, 12] as const;

const MOST_PAGES = 18;

const pagesArePartition: Judge<Read> = async ({ query }, world) => {
  const list = await openLists(world);
  const account = world.prepared.notifications.accounts.find(
    ({ accountId }) => accountId === query.accountId,
  );
  const ids = account?.ids ?? [];
  const count = pagesIn(ids.length, query.limit ?? world.limits.defaultLimit);
  return whileSteady(list, account, async () => {
    const pages = await readPages(list, query, count);
    const wrong = difference(
      ids,
      pages.flatMap((page) => page.ids),
    );
    if (wrong !== undefined)
      return fail(
        `the ${count} pages with ${asked(query)} together hold the ${ids.length} notifications, each once`,
        `over all pages: ${wrong}`,
      );
    // Backwards, to expose a page that depends on the one read before.
    for (const [page, before] of [...pages.entries()].toReversed()) {
      const again = await list({ ...query, page });
      const changed = difference(before.ids, again.ids);
      if (changed !== undefined)
        return fail(
          `page=${page} with ${asked(query)} holds the same notifications every time it is read`,
          `the second time: ${changed}`,
        );
      for (const [at, item] of again.items.entries()) {
        const breach = changeBreach(before.items[before.ids.indexOf(again.ids[at] ?? "")] ?? {}, item);
        if (breach !== undefined) return verdictOf(breach, () => again.said);
      }
    }
    return pass;
  });
};

/** The whole list may be long: reads its first pages, and only judges totality if it ends soon. */
const pagesOfAllAreDisjoint: Judge<number | undefined> = async (limit, world) => {
  const list = await openLists(world);
  return whileTotalStands(list, async () => {
    const pages = await readPages(list, { limit }, MOST_PAGES);
    const seen = pages.flatMap(({ ids }) => ids);
    const ended = pages.at(-1)?.ids.length === 0;
    const wrong = difference([...seen, ...(ended ? idsIn(world) : [])], seen);
    return expectThat(
      wrong === undefined,
      `the pages with ${asked({ limit })} together hold all notifications, each once`,
      `over ${pages.length} pages: ${wrong ?? "none"}`,
    );
  });
};

const idsIn = ({ prepared: { notifications } }: World): readonly string[] =>
  notifications.accounts.flatMap(({ ids }) => ids);

/** A maximum may cut the pages of an account, or of the whole list, but then the next page begins where one was cut. */
const cutPagesLoseNothing: Judge<AccountSet | undefined> = async (account, world) => {
  const query = account === undefined ? {} : { accountId: account.accountId };
  const list = await openLists(world);
  const ids = (account?.ids ?? idsIn(world)).map(fold);
  return whileSteady(list, account, async () => allHold(await cutListHolds(list, query, ids)));
};

/** The newest or oldest notifications of the whole list have the same fields behind each filter. */
const readsAlikeByEveryFilter: Judge<number> = async (count, world) => {
  const list = await openLists(world);
  const { items, ids } = await list({});
  for (const [at, item] of items.slice(0, count).entries()) {
    const id = ids[at] ?? "";
    const accountId = String(item["accountId"]);
    for (const query of [{ id }, { accountId }, { id, accountId }]) {
      const seen = await list(query);
      const breach = changeBreach(item, seen.items[seen.ids.indexOf(id)] ?? item);
      if (breach !== undefined)
        return fail(breach.expected, `${breach.actual}: with no parameters, then with ${asked(query)}`);
    }
  }
  return pass;
};

/** Numbers from here on are huge: how they are answered is unspecified, as for non-numbers. */
const HUGE_PAGE = 1_000_000_000;
const nearPages = [0, 1, 2, 10] as const;

/** Near the end, and where 16-bit or 32-bit numbers wrap around to the second page. */
const farPages = (limit: number): readonly number[] => [
  ...nearPages,
  1_000,
  2 ** 16 + 1,
  1_000_000,
  Math.ceil(2 ** 32 / limit) + 1,
  2 ** 32 + 1,
];

/** Near pages are counted from the end; far ones are absolute, because only an exact number wraps around exactly. */
const beyond = (world: World, query: ListQuery, further: readonly number[]): readonly Read[] => {
  const { total } = expected(knownIn(world), query);
  const end = pagesIn(total, query.limit ?? world.limits.defaultLimit);
  return further.map((page) => ({
    query: { ...query, page: page < 1_000 ? end + page : Math.max(end, page) },
  }));
};

const nothingPastTheEnd: Judge<readonly Read[]> = async (reads, world) => {
  const list = await openLists(world);
  const first = await list({ ...reads[0]?.query, page: 0 });
  if (first.ids.length === 0) return discard("the first page is empty");
  return readAll(world, list, "notifications.past-the-end", reads, {
    // A service that ignores such a number returns the first page.
    allows: ({ ids }, { page = 0 }) => page >= HUGE_PAGE && sameSet(ids, first.ids),
  });
};

const nothingAfterASingleItem: Judge<readonly Read[]> = async (reads, world) => {
  const list = await openLists(world);
  return allHold(
    await Array.fromAsync(reads, (read) => readOne(world, list, "notifications.past-the-end", read)),
  );
};

const nothingFarPastAll: Judge<number | undefined> = async (limit, world) => {
  const list = await openLists(world);
  const first = await list({ limit, page: 0 });
  const page = 2 ** 16;
  if (!first.served) return discard("the whole list is not served");
  if (!(Number(first.total) <= page)) return discard("the whole list may reach that far");
  const seen = await list({ limit, page });
  const repeated = seen.ids.filter((id) => first.ids.includes(id)).length;
  return expectThat(
    repeated === 0,
    `a page far beyond the end of all notifications repeats none`,
    `page=${page} holds ${repeated} notifications of the first page again`,
  );
};
