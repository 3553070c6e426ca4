import fc from "fast-check";
import {
  existingPages,
  limits,
  limitText,
  pagesIn,
  printLength,
  printLimited,
  printPaging,
  tellingLimits,
  type Limited,
  type Paging,
} from "../arbitraries/paging.ts";
import { mapLimited } from "../checks/map-limited.ts";
import { inGroups } from "../contract/text.ts";
import {
  allHold,
  brokenBy,
  discard,
  fail,
  expectThat,
  pass,
  type CaseVerdict,
} from "../judging/case-verdict.ts";
import { pageSize, sameSet } from "../judging/laws/pages.ts";
import {
  asked,
  exchangesOf,
  greatestLimit,
  leastInAll,
  openLists,
  vouchedLimit,
  whileSteady,
  whileTotalStands,
  type List,
  type ListQuery,
} from "./shared/lists.ts";
import type { Rules, Judge, Run } from "../checks/rule.ts";
import { unlessUndecided } from "../world/exchange.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";
import { notificationShapeRules } from "./notification-shape.ts";

/** Sections 4.4 and 8: the size and number of pages. Filters, totals, whole walks and writes have their own files. */
export const notificationRules = {
  ...notificationShapeRules,

  "notifications.default-limit": {
    needs: ["many-notifications"],
    check: (world, run) =>
      run.forEach(
        defaultLimitCases(world),
        async ({ query, account, limitBefore, ofSecondClient }, world) => {
          const { defaultLimit } = world.limits;
          const list = await openLists(world, ofSecondClient === true ? world.secondClient : undefined);
          if (ofSecondClient === true && !(await showsWhole(list, account))) return notShown;
          const judge = async (): Promise<CaseVerdict> => {
            // An earlier limit must not become the default of later requests.
            if (limitBefore !== undefined) await list({ ...query, limit: limitBefore });
            const seen = await list(query);
            return expectThat(
              seen.ids.length === defaultLimit,
              `a list request without limit gets ${defaultLimit} items when more match`,
              `with ${asked(query)} it got ${seen.said}`,
            );
          };
          return account === undefined ? judge() : whileSteady(list, account, judge);
        },
        { print: printDefaultLimit },
      ),
  },

  "notifications.default-page": {
    needs: ["notifications"],
    check: async (world, run) => {
      const { defaultLimit } = world.limits;
      const { accounts } = world.prepared.notifications;
      const greatest = await greatestLimit(world);
      const most = accounts[0]?.ids.length ?? 1;
      const generated = fc.record({
        account: fc.constantFrom(...accounts),
        limit: fc.option(limits(most, defaultLimit, greatest), { nil: undefined }),
      });
      const examples = accounts
        .slice(0, 3)
        .flatMap((account, nth): readonly FirstPage[] => [
          { account, limit: undefined },
          ...(nth === 0 && world.secondClient !== undefined
            ? [{ account, limit: undefined, ofSecondClient: true }]
            : []),
          { account, limit: Math.min(greatest, Math.ceil(account.ids.length / 2)) },
        ]);
      const whole = [undefined, 1, defaultLimit, vouchedLimit(world, greatest)];
      return run.all([
        run.forAll(generated, firstPageIsTheDefault, { print: printFirstPage, examples }),
        run.forEach(whole, firstOfAllIsTheDefault, { part: "unfiltered", print: limitText }),
      ]);
    },
  },

  "notifications.limit": {
    needs: ["notifications"],
    check: async (world, run) => {
      const { defaultLimit } = world.limits;
      const { accounts } = world.prepared.notifications;
      const greatest = await greatestLimit(world);
      const telling = accounts.slice(0, 3).flatMap((account) =>
        tellingLimits(account.ids.length, defaultLimit, greatest).map((limit, index) => ({
          account,
          limit,
          page: index % 2 === 0 ? 0 : pagesIn(account.ids.length, limit) - 1,
        })),
      );
      const least = leastInAll(world);
      const wholeIsServed = await unlessUndecided(servesAsOne(world, least), false);
      const vouched = wholeIsServed ? least : Math.min(least, vouchedLimit(world, greatest));
      const whole = [
        ...new Set([
          ...tellingLimits(least, defaultLimit, vouched),
          ...between(vouchedLimit(world, greatest), vouched, run),
        ]),
      ];
      return run.all([
        run.forEach(telling, pageHoldsItsShare, { part: "telling limits", print: printPaging }),
        run.forEach(inGroups(everyLimit(accounts, greatest), 6), firstPagesHoldTheirShare, {
          part: "every limit",
          print: (group) => group.map(printPaging).join("; "),
          narrower: (group) => group.map((paging) => [paging]),
        }),
        run.forAll(existingPages(accounts, defaultLimit, greatest), pageHoldsItsShare, {
          print: printPaging,
        }),
        run.forEach(whole, firstOfAllIsFull, { part: "unfiltered", print: (limit) => `limit=${limit}` }),
      ]);
    },
  },
} satisfies Rules;

/** Whether everything known fits on one page of the whole list; then no limit up to that may be cut. */
const servesAsOne = async (world: World, least: number): Promise<boolean> => {
  const list = await openLists(world);
  return (await list({ limit: least })).ids.length === least;
};

/** Some limits above the one that other cases use, different ones in each run. */
const between = (above: number, most: number, run: Run): readonly number[] => {
  const step = Math.max(1, Math.floor((most - above) / run.cases(0.25)));
  const first = above + 1 + (Math.abs(run.seed) % step);
  return Array.from(
    { length: Math.max(0, Math.ceil((most + 1 - first) / step)) },
    (_, n) => first + n * step,
  );
};

interface DefaultLimitCase {
  readonly query: ListQuery;
  /** The account that the query filters by; undefined for the whole list. */
  readonly account?: AccountSet;
  readonly limitBefore?: number;
  readonly ofSecondClient?: true;
}

const printDefaultLimit = ({ query, account, limitBefore, ofSecondClient }: DefaultLimitCase): string =>
  [
    account === undefined ? asked(query) : `${asked(query)} of ${printLength(account)}`,
    ...(limitBefore === undefined ? [] : [`after one with limit=${limitBefore}`]),
    ...(ofSecondClient === true ? ["the second client"] : []),
  ].join(", ");

/** Pages that are full at the default limit: first and later ones, by account and of the whole list. */
const defaultLimitCases = (world: World): readonly DefaultLimitCase[] => {
  const { defaultLimit } = world.limits;
  const byAccount = world.prepared.notifications.accounts.flatMap((account): readonly DefaultLimitCase[] => {
    const { accountId, ids } = account;
    if (ids.length <= defaultLimit) return [];
    const full = Math.min(4, Math.floor(ids.length / defaultLimit));
    return [
      { account, query: { accountId } },
      ...(world.secondClient === undefined
        ? []
        : [{ account, query: { accountId }, ofSecondClient: true as const }]),
      { account, query: { accountId }, limitBefore: 3 },
      { account, query: { accountId }, limitBefore: 2 * defaultLimit },
      ...Array.from({ length: full }, (_, page) => ({ account, query: { accountId, page } })),
    ];
  });
  const fullOfAll = Math.min(4, Math.floor(leastInAll(world) / defaultLimit));
  const ofAll = Array.from({ length: fullOfAll }, (_, page) => ({ query: { page } }));
  return [...byAccount, ...ofAll, { query: {} }, { query: {}, limitBefore: 3 }];
};

const notShown = discard("the second client is not shown these notifications");

/** Whether a client is shown all notifications of the account: each client may be shown only its own. */
const showsWhole = async (list: List, account: AccountSet | undefined): Promise<boolean> =>
  account !== undefined &&
  (await list({ accountId: account.accountId, limit: 1 })).total === account.ids.length;

interface FirstPage extends Limited {
  readonly ofSecondClient?: boolean;
}

const printFirstPage = (page: FirstPage): string =>
  `${printLimited(page)}${page.ofSecondClient === true ? ", the second client" : ""}`;

const firstPageIsTheDefault: Judge<FirstPage> = async ({ account, limit, ofSecondClient }, world) => {
  const list = await openLists(world, ofSecondClient === true ? world.secondClient : undefined);
  if (ofSecondClient === true && !(await showsWhole(list, account))) return notShown;
  const { accountId, ids } = account;
  return whileSteady(list, account, () =>
    noPageIsTheFirst(list, { accountId, limit }, Math.min(limit ?? world.limits.defaultLimit, ids.length)),
  );
};

const firstOfAllIsTheDefault: Judge<number | undefined> = async (limit, world) => {
  const list = await openLists(world);
  const least = Math.min(limit ?? world.limits.defaultLimit, leastInAll(world));
  return whileTotalStands(list, () => noPageIsTheFirst(list, { limit }, least));
};

/** Reads the second page first, to expose a service that remembers the page of an earlier request. */
const noPageIsTheFirst = async (list: List, query: ListQuery, size: number): Promise<CaseVerdict> => {
  const second = await list({ ...query, page: 1 });
  const without = await list(query);
  const first = await list({ ...query, page: 0 });
  const shown = exchangesOf(second, without, first);
  if (first.ids.length < size)
    return fail(
      `with ${asked({ ...query, page: 0 })} the first page is served`,
      `it got ${first.said}`,
      first.served ? shown : exchangesOf(first),
    );
  if (!sameSet(first.ids, without.ids))
    return fail(
      `with ${asked(query)} the answer is the same as with page=0`,
      `without page it got ${without.said}, with page=0 ${first.said}, which are not the same notifications`,
      shown,
    );
  // The only page may come again for every number: that is about what is past the end. A single notification may come
  // again because pages overlap: that is about all pages together.
  const isOnlyOne = typeof first.total === "number" && first.total <= first.ids.length;
  return !isOnlyOne && first.ids.length > 1 && sameSet(first.ids, second.ids)
    ? fail(
        `with ${asked(query)} the answer is the same as with page=0, not page=1`,
        `page=0 and page=1 show the same ${first.ids.length} notifications`,
        shown,
      )
    : pass;
};

/** The first page of the longest account at every limit. */
const everyLimit = ([account]: readonly AccountSet[], greatest: number): readonly Paging[] =>
  account === undefined
    ? []
    : Array.from({ length: Math.min(account.ids.length, greatest) }, (_, at) => ({
        account,
        limit: at + 1,
        page: 0,
      }));

const firstPagesHoldTheirShare: Judge<readonly Paging[]> = async (group, world) => {
  const list = await openLists(world);
  return allHold(
    await mapLimited(group, 3, async (paging) =>
      brokenBy(printPaging(paging), await holdsItsShare(list, paging)),
    ),
  );
};

const pageHoldsItsShare: Judge<Paging> = async (paging, world) =>
  holdsItsShare(await openLists(world), paging);

const holdsItsShare = (list: List, { account, limit, page }: Paging): Promise<CaseVerdict> => {
  const { accountId, ids } = account;
  const share = pageSize(ids.length, limit, page);
  return whileSteady(list, account, async () => {
    const seen = await list({ accountId, limit, page });
    return expectThat(
      seen.ids.length === share,
      `with limit=${limit}, page=${page} of ${ids.length} notifications holds ${share}`,
      `it got ${seen.said}`,
    );
  });
};

const firstOfAllIsFull: Judge<number> = async (limit, world) => {
  const list = await openLists(world);
  const seen = await list({ limit });
  return expectThat(
    seen.ids.length === limit,
    `with limit=${limit} the first page of ${leastInAll(world)} notifications or more holds ${limit}`,
    `it got ${seen.said}`,
  );
};
