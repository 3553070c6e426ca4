import fc from "fast-check";
import {
  limits,
  limitText,
  pagesIn,
  printLength,
  printLimited,
  type Limited,
} from "../arbitraries/paging.ts";
import {
  allHold,
  brokenBy,
  fail,
  expectThat,
  pass,
  discard,
  type CaseVerdict,
} from "../judging/case-verdict.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { changeBreach } from "../judging/laws/notification.ts";
import { difference, fold, repeatedFrom, sameSet } from "../judging/laws/pages.ts";
import {
  asked,
  greatestLimit,
  openLists,
  readCutPages,
  readPages,
  vouchedLimit,
  whileSteady,
  whileTotalStands,
} from "./shared/lists.ts";
import { counted } from "../contract/text.ts";
import type { Rules, Judge } from "../checks/rule.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { notificationTotalRules } from "./notification-totals.ts";

/** Section 4.4: all pages of a list together, and pages past the end. */
export const notificationPageRules = {
  "notifications.pages-partition": {
    needs: ["notifications"],
    check: async (world, run) => {
      const greatest = await greatestLimit(world);
      const { accounts } = world.prepared.notifications;
      const telling = accounts
        .slice(0, 2)
        .flatMap((account) =>
          [undefined, ...tellingWalks].flatMap((limit) =>
            (limit ?? 1) <= greatest ? [{ account, limit }] : [],
          ),
        );
      const whole = [Math.min(7, greatest), undefined, vouchedLimit(world, greatest)];
      return run.all([
        run.forEach(telling, pagesArePartition, { part: "telling limits", print: printLimited }),
        run.forAll(walks(world, greatest), pagesArePartition, { share: 0.5, print: printLimited }),
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
      const anywhere = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 6, max: 2_000_000 }));
      const generated = fc
        .constantFrom(...accounts)
        .chain((account) =>
          fc.tuple(fc.constant(account), limits(account.ids.length, defaultLimit, greatest), anywhere),
        )
        .map(([account, limit, further]) => beyond({ account, limit }, [further], defaultLimit));
      const exact = accounts.flatMap((account, index) =>
        [undefined, 8, account.ids.length]
          .filter((limit) => (limit ?? 1) <= greatest)
          .map((limit) =>
            beyond({ account, limit }, index < 2 ? farPages(limit ?? defaultLimit) : nearPages, defaultLimit),
          ),
      );
      return run.all([
        run.forEach(exact, nothingPastTheEnd, {
          part: "near and far",
          print: printBeyond,
          narrower: ({ pages, ...others }) => pages.map((page) => ({ ...others, pages: [page] })),
        }),
        run.forAll(generated, nothingPastTheEnd, { print: printBeyond }),
        run.forEach(accounts.slice(0, 2), nothingAfterASingleItem, { part: "id filter" }),
        run.forEach([undefined, 1], nothingFarPastAll, { part: "unfiltered" }),
      ]);
    },
  },

  ...notificationTotalRules,
} satisfies Rules;

/** Limits with small and with different divisors, odd and even. */
const tellingWalks = [5, 7, 8, 9, 12] as const;

const MOST_PAGES = 18;

/** Walks of at most MOST_PAGES pages: small pages of a long list cost many reads and show nothing more. */
const walks = (
  { prepared: { notifications }, limits: { defaultLimit } }: World,
  greatest: number,
): fc.Arbitrary<Limited> =>
  fc.constantFrom(...notifications.accounts).chain((account) => {
    const length = account.ids.length;
    const least = Math.min(greatest, Math.ceil(length / MOST_PAGES));
    const limit = limits(length, defaultLimit, greatest).map((any) => Math.max(any, least));
    return fc.record({ account: fc.constant(account), limit: fc.option(limit, { nil: undefined }) });
  });

const pagesArePartition: Judge<Limited> = async ({ account, limit }, world) => {
  const list = await openLists(world);
  const query = { accountId: account.accountId, limit };
  const count = pagesIn(account.ids.length, limit ?? world.limits.defaultLimit);
  return whileSteady(list, account, async () => {
    const pages = await readPages(list, query, count);
    const wrong = difference(
      account.ids,
      pages.flatMap(({ ids }) => ids),
    );
    if (wrong !== undefined)
      return fail(
        `the ${count} pages with ${asked(query)} together hold the ${account.ids.length} notifications, each once`,
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
      for (const item of again.items) {
        const breach = changeBreach(before.items.find(({ id }) => fold(id) === fold(item["id"])) ?? {}, item);
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
    const expected = ended
      ? [...seen, ...world.prepared.notifications.accounts.flatMap(({ ids }) => ids)]
      : seen;
    const wrong = difference(expected, seen);
    return expectThat(
      wrong === undefined,
      `the pages with ${asked({ limit })} together hold all notifications, each once`,
      `over ${pages.length} pages: ${wrong ?? "none"}`,
    );
  });
};

/** A maximum may cut the pages of an account, or of the whole list, but then the next page begins where one was cut. */
const cutPagesLoseNothing: Judge<AccountSet | undefined> = async (account, world) => {
  const list = await openLists(world);
  const query = account === undefined ? {} : { accountId: account.accountId };
  const expected = account?.ids ?? world.prepared.notifications.accounts.flatMap(({ ids }) => ids);
  return whileTotalStands(list, async () => {
    const pages = await readCutPages(list, query);
    if (pages === undefined) return pass;
    const seen = pages.flatMap(({ ids }) => ids);
    const wrong = difference([...seen, ...expected], seen);
    return expectThat(
      wrong === undefined,
      "with a limit above the maximum, pages that are cut together hold all notifications, each once",
      `the first of ${pages.length} pages until one was empty: ${pages[0]?.said ?? "none"}; over all pages: ${wrong ?? "none"}`,
    );
  });
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

interface Beyond extends Limited {
  /** The first page past the end. */
  readonly end: number;
  /** Pages to request, from there on. */
  readonly pages: readonly number[];
}

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
const beyond = (list: Limited, further: readonly number[], defaultLimit: number): Beyond => {
  const end = pagesIn(list.account.ids.length, list.limit ?? defaultLimit);
  return {
    ...list,
    end,
    pages: further.map((page) => (page < 1_000 ? end + page : Math.max(end, page))),
  };
};

const printBeyond = ({ account, limit, end, pages }: Beyond): string => {
  const which = pages.length === 1 && pages[0] === end ? "the first page past" : "past";
  return `page=${pages.join(", ")}, ${which} the end of ${counted(account.ids.length, "notification")} with ${limitText(limit)}`;
};

const nothingPastTheEnd: Judge<Beyond> = async (value, world) => {
  const { account, limit, end, pages } = value;
  const list = await openLists(world);
  const query = { accountId: account.accountId, limit };
  const first = await list({ ...query, page: 0 });
  if (first.ids.length === 0) return discard(`the first page with ${asked(query)} is empty`);
  const known = new Set([...account.ids.map(fold), ...first.ids]);
  return whileSteady(list, account, async () => {
    for (const page of pages) {
      const seen = await list({ ...query, page });
      // A service that ignores such a number returns the first page.
      const asNone = page >= HUGE_PAGE && sameSet(seen.ids, first.ids);
      const repeated = asNone ? 0 : repeatedFrom(seen, known);
      if (repeated > 0)
        return brokenBy(
          printBeyond({ ...value, pages: [page] }),
          fail(
            `with ${asked(query)}, page=${end - 1} is the last of ${account.ids.length} notifications, so later pages repeat none`,
            `page=${page} holds ${repeated} of them again`,
          ),
        );
    }
    return pass;
  });
};

const nothingAfterASingleItem: Judge<AccountSet> = async ({ accountId, ids }, world) => {
  const list = await openLists(world);
  const id = ids[0] ?? "";
  const judgements: CaseVerdict[] = [];
  for (const query of [{ id }, { id, limit: 1 }, { id, accountId }] as const)
    for (const page of [1, 2, 50]) {
      const seen = await list({ ...query, page });
      judgements.push(
        expectThat(
          seen.ids.length === 0,
          `with ${asked(query)} one notification matches, and pages after the first do not repeat it`,
          `page=${page} got ${seen.said}`,
        ),
      );
    }
  return allHold(judgements);
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
