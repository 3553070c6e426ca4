import { anyPage, limitText, pagesIn, tellingLimits } from "../arbitraries/paging.ts";
import { inGroups } from "../contract/text.ts";
import { fail, pass, type CaseVerdict } from "../judging/case-verdict.ts";
import { asked, expected, type ListQuery } from "../judging/laws/lists.ts";
import { sameSet } from "../judging/laws/pages.ts";
import {
  exchangesOf,
  greatestLimit,
  leastInAll,
  openLists,
  vouchedLimit,
  whileSteady,
  whileTotalStands,
  type List,
} from "./shared/lists.ts";
import type { Rules, Judge, Run } from "../checks/rule.ts";
import { unlessUndecided } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import {
  getWhatTheyMust,
  knownIn,
  listFor,
  notShown,
  oneByOne,
  printRead,
  type Read,
} from "./notification-reads.ts";
import { notificationShapeRules } from "./notification-shape.ts";
import { notificationTotalRules } from "./notification-totals.ts";

/** Sections 4.4 and 8: the size and number of pages. Totals, filters, whole walks and writes have their own files. */
export const notificationRules = {
  ...notificationShapeRules,

  "notifications.default-limit": {
    needs: ["many-notifications"],
    check: (world, run) =>
      run.forEach(
        withoutLimit(world).map((read) => [read]),
        getWhatTheyMust("notifications.default-limit"),
        oneByOne(world),
      ),
  },

  "notifications.default-page": {
    needs: ["notifications"],
    check: async (world, run) => {
      const { defaultLimit } = world.limits;
      const { accounts } = world.prepared.notifications;
      const greatest = await greatestLimit(world);
      const examples = accounts
        .slice(0, 3)
        .flatMap(({ accountId, ids }, nth): readonly Read[] => [
          { query: { accountId } },
          ...(nth === 0 ? forSecondClient(world, { query: { accountId } }) : []),
          { query: { accountId, limit: Math.min(greatest, Math.ceil(ids.length / 2)) } },
        ]);
      const whole = [undefined, 1, defaultLimit, vouchedLimit(world, greatest)];
      return run.all([
        run.forEach(examples, firstPageIsTheDefault, { print: printRead(world) }),
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
      const telling = accounts
        .slice(0, 3)
        .flatMap(({ accountId, ids }) =>
          tellingLimits(ids.length, defaultLimit, greatest).map((limit, index): readonly Read[] => [
            { query: { accountId, limit, page: index % 2 === 0 ? 0 : pagesIn(ids.length, limit) - 1 } },
          ]),
        );
      const holds = getWhatTheyMust("notifications.limit");
      return run.all([
        run.forEach(telling, holds, { part: "telling limits", ...oneByOne(world) }),
        run.forEach(inGroups(everyLimit(world, greatest), 6), holds, {
          part: "every limit",
          ...oneByOne(world),
        }),
        run.forAll(
          anyPage(accounts, defaultLimit, greatest).map((query) => [{ query }]),
          holds,
          { print: oneByOne(world).print },
        ),
        run.forEach(await wholeAtLimits(world, greatest, run), holds, {
          part: "unfiltered",
          ...oneByOne(world),
        }),
      ]);
    },
  },

  ...notificationTotalRules,
} satisfies Rules;

const forSecondClient = ({ secondClient }: World, read: Read): readonly Read[] =>
  secondClient === undefined ? [] : [{ ...read, ofSecondClient: true }];

/** Pages that are full at the default limit: first and later ones, by account and of the whole list. */
const withoutLimit = (world: World): readonly Read[] => {
  const { defaultLimit } = world.limits;
  const fullPages = (length: number): readonly number[] =>
    Array.from({ length: Math.min(4, Math.floor(length / defaultLimit)) }, (_, page) => page);
  const byAccount = world.prepared.notifications.accounts.flatMap(({ accountId, ids }): readonly Read[] => {
    if (ids.length <= defaultLimit) return [];
    const query = { accountId };
    return [
      { query },
      ...forSecondClient(world, { query }),
      // An earlier limit must not become the default of later requests.
      { query, before: { accountId, limit: 3 } },
      { query, before: { accountId, limit: 2 * defaultLimit } },
      ...fullPages(ids.length).map((page) => ({ query: { accountId, page } })),
    ];
  });
  return [
    ...byAccount,
    ...fullPages(leastInAll(world)).map((page) => ({ query: { page } })),
    { query: {} },
    { query: {}, before: { limit: 3 } },
  ];
};

const firstPageIsTheDefault: Judge<Read> = async (read, world) => {
  const list = await listFor(world, read);
  if (list === undefined) return notShown;
  const account = world.prepared.notifications.accounts.find(
    ({ accountId }) => accountId === read.query.accountId,
  );
  return whileSteady(list, account, () => noPageIsTheFirst(world, list, read.query));
};

const firstOfAllIsTheDefault: Judge<number | undefined> = async (limit, world) => {
  const list = await openLists(world);
  return whileTotalStands(list, () => noPageIsTheFirst(world, list, { limit }));
};

/** Reads the second page first, to expose a service that remembers the page of an earlier request. */
const noPageIsTheFirst = async (world: World, list: List, query: ListQuery): Promise<CaseVerdict> => {
  const second = await list({ ...query, page: 1 });
  const without = await list(query);
  const first = await list({ ...query, page: 0 });
  const shown = exchangesOf(second, without, first);
  if (first.ids.length < expected(knownIn(world), query).size)
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
const everyLimit = ({ prepared: { notifications } }: World, greatest: number): readonly Read[] =>
  notifications.accounts.slice(0, 1).flatMap(({ accountId, ids }) =>
    Array.from({ length: Math.min(ids.length, greatest) }, (_, at) => ({
      query: { accountId, limit: at + 1, page: 0 },
    })),
  );

/** The first page of the whole list, with limits up to what is known to be there, different ones in each run. */
const wholeAtLimits = async (
  world: World,
  greatest: number,
  run: Run,
): Promise<readonly (readonly Read[])[]> => {
  const least = leastInAll(world);
  const vouched = vouchedLimit(world, greatest);
  // If everything known fits on one page, no limit up to that may be cut.
  const isServedAsOne = async (): Promise<boolean> =>
    (await (await openLists(world))({ limit: least })).ids.length === least;
  const most = (await unlessUndecided(isServedAsOne(), false)) ? least : Math.min(least, vouched);
  const step = Math.max(1, Math.floor((most - vouched) / run.cases(0.25)));
  const first = vouched + 1 + (Math.abs(run.seed) % step);
  const between = Array.from(
    { length: Math.max(0, Math.ceil((most + 1 - first) / step)) },
    (_, n) => first + n * step,
  );
  const all = new Set([...tellingLimits(least, world.limits.defaultLimit, most), ...between]);
  return [...all].map((limit) => [{ query: { limit } }]);
};
