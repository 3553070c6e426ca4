import fc from "fast-check";
import { Value } from "typebox/value";
import { credentialsOf, describe, grantOf } from "../answers.ts";
import {
  existingPages,
  limits,
  pagesIn,
  printPaging,
  tellingLimits,
  type Paging,
} from "../arbitraries/paging.ts";
import { accessTokenHeader, NotificationPage } from "../contract/messages.ts";
import { broke, expectThat, held, setAside, undecided, type Judgement } from "../judgement.ts";
import {
  asked,
  greatestLimit,
  leastInAll,
  openLists,
  sameSet,
  vouchedLimit,
  whileSteady,
  whileTotalStands,
  type List,
  type Listing,
  type ListQuery,
} from "../lists.ts";
import type { Rules } from "../rule.ts";
import type { Judge } from "../run.ts";
import { exchangeBody, gaveData, refreshBody } from "../steps.ts";
import { objectOf } from "../world/exchange.ts";
import type { AccountSet } from "../world/dataset.ts";
import type { World } from "../world/world.ts";

/** Sections 4.4, 2.3, 8 and 9: single pages. What concerns all pages, filters and writes has files of its own. */
export const notificationRules = {
  itemsHaveTheDocumentedShape: {
    requirement: "notifications.shape",
    needs: ["notifications"],
    check: (world, run) =>
      run.forEach(shapeCases(world), async ({ query, mayBeRefused }, world) => {
        const list = await openLists(world);
        const seen = await list(query);
        // A total beside data that is no array is a page gone wrong, not a refusal.
        const claimsPage = seen.answer !== undefined && typeof objectOf(seen.answer)["total"] === "number";
        if (seen.served || claimsPage) return pageHasItsShape(seen);
        return mayBeRefused
          ? setAside("where nothing matches, the service refuses")
          : broke(`a list request with ${asked(query)} gets a page of notifications`, seen.said);
      }),
  },

  withoutLimitAPageHoldsTheDefault: {
    requirement: "notifications.default-limit",
    needs: ["many-notifications"],
    check: (world, run) =>
      run.forEach(defaultLimitCases(world), async ({ query, account, limitBefore }, world) => {
        const { defaultLimit } = world.limits;
        const list = await openLists(world);
        const judge = async (): Promise<Judgement> => {
          // A limit asked for earlier must not become the default of later requests.
          if (limitBefore !== undefined) await list({ ...query, limit: limitBefore });
          const seen = await list(query);
          return expectThat(
            seen.ids.length === defaultLimit,
            `a list request without limit gets ${defaultLimit} items when more match`,
            `with ${asked(query)} it got ${seen.said}`,
          );
        };
        return account === undefined ? judge() : whileSteady(list, account, judge);
      }),
  },

  withoutPageTheFirstIsServed: {
    requirement: "notifications.default-page",
    needs: ["notifications"],
    check: async (world, run) => {
      const { defaultLimit } = world.limits;
      const { accounts } = world.notifications;
      const greatest = await greatestLimit(world);
      const most = accounts[0]?.ids.length ?? 1;
      const generated = fc.record({
        account: fc.constantFrom(...accounts),
        limit: fc.option(limits(most, defaultLimit, greatest), { nil: undefined }),
      });
      const examples = accounts.slice(0, 3).flatMap((account) => [
        { account, limit: undefined },
        { account, limit: Math.min(greatest, Math.ceil(account.ids.length / 2)) },
      ]);
      const whole = [undefined, 1, defaultLimit, vouchedLimit(world, greatest)];
      return run.all([
        run.forAll(generated, firstPageIsTheDefault, { print: printLimited, examples }),
        run.forEach(whole, firstOfAllIsTheDefault, { part: "unfiltered" }),
      ]);
    },
  },

  aPageHoldsTheLimitOrWhatRemains: {
    requirement: "notifications.limit",
    needs: ["notifications"],
    check: async (world, run) => {
      const { defaultLimit } = world.limits;
      const { accounts } = world.notifications;
      const greatest = await greatestLimit(world);
      const telling = accounts.slice(0, 3).flatMap((account) =>
        tellingLimits(account.ids.length, defaultLimit, greatest).map((limit, index) => ({
          account,
          limit,
          page: index % 2 === 0 ? 0 : pagesIn(account.ids.length, limit) - 1,
        })),
      );
      const least = leastInAll(world);
      const whole = tellingLimits(least, defaultLimit, Math.min(least, vouchedLimit(world, greatest)));
      return run.all([
        run.forEach(telling, pageHoldsItsShare, { part: "telling limits", print: printPaging }),
        run.forAll(existingPages(accounts, defaultLimit, greatest), pageHoldsItsShare, {
          print: printPaging,
        }),
        run.forEach(whole, firstOfAllIsFull, { part: "unfiltered", print: (limit) => `limit=${limit}` }),
      ]);
    },
  },

  documentedPathsServe: {
    requirement: "notifications.versioned-path",
    check: (_world, run) => run.once(everyDocumentedPathServes),
  },
} satisfies Rules;

interface ShapeCase {
  readonly query: ListQuery;
  readonly mayBeRefused?: true;
}

/** Every page of the known notifications, and the kinds of request that a service may answer from another place. */
const shapeCases = ({ notifications, limits: { defaultLimit } }: World): readonly ShapeCase[] => {
  const [first] = notifications.accounts;
  const pages = notifications.accounts.flatMap(({ accountId, ids }) =>
    Array.from({ length: Math.min(6, pagesIn(ids.length, defaultLimit)) }, (_, page) => ({
      query: { accountId, page },
    })),
  );
  return [
    ...pages,
    { query: {} },
    { query: { limit: 1 } },
    { query: { page: 0 } },
    ...(first === undefined
      ? []
      : [
          { query: { accountId: first.accountId } },
          { query: { id: first.ids.at(-1) ?? "" } },
          { query: { id: first.ids[0] ?? "", accountId: first.accountId } },
          { query: { accountId: first.accountId, page: first.ids.length + 1 }, mayBeRefused: true as const },
        ]),
    { query: { accountId: notifications.emptyAccountId }, mayBeRefused: true },
    { query: { id: notifications.emptyAccountId }, mayBeRefused: true },
  ];
};

const pageHasItsShape = (seen: Listing): Judgement => {
  const [error] = Value.Errors(NotificationPage, seen.answer?.json);
  if (error !== undefined)
    return broke(
      "a list answer holds total, a whole number, and data, notifications with all fields of section 2.3",
      `at ${error.instancePath === "" ? "its root" : error.instancePath} the answer ${error.message}${valueAt(seen.answer?.json, error.instancePath)}`,
    );
  const impossible = seen.items.find(({ createTime }) => Number.isNaN(Date.parse(String(createTime))));
  return impossible === undefined
    ? held
    : broke("createTime is a moment in ISO 8601", `it is ${JSON.stringify(impossible["createTime"])}`);
};

/** What stands at a JSON pointer, for a sentence; nothing where it is no plain value. */
const valueAt = (json: unknown, pointer: string): string => {
  let value = json;
  for (const key of pointer.split("/").slice(1))
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return value === null || (typeof value !== "object" && value !== undefined)
    ? `; it holds ${JSON.stringify(value).slice(0, 60)}`
    : "";
};

interface DefaultLimitCase {
  readonly query: ListQuery;
  /** The account that the query filters by; undefined for the whole list. */
  readonly account?: AccountSet;
  readonly limitBefore?: number;
}

/** Pages that are full at the default limit: first and later ones, by account and of the whole list. */
const defaultLimitCases = (world: World): readonly DefaultLimitCase[] => {
  const { defaultLimit } = world.limits;
  const byAccount = world.notifications.accounts.flatMap((account): readonly DefaultLimitCase[] => {
    const { accountId, ids } = account;
    if (ids.length <= defaultLimit) return [];
    const full = Math.min(4, Math.floor(ids.length / defaultLimit));
    return [
      { account, query: { accountId } },
      { account, query: { accountId }, limitBefore: 3 },
      { account, query: { accountId }, limitBefore: 2 * defaultLimit },
      ...Array.from({ length: full }, (_, page) => ({ account, query: { accountId, page } })),
    ];
  });
  const fullOfAll = Math.min(4, Math.floor(leastInAll(world) / defaultLimit));
  const ofAll = Array.from({ length: fullOfAll }, (_, page) => ({ query: { page } }));
  return [...byAccount, ...ofAll, { query: {} }, { query: {}, limitBefore: 3 }];
};

interface Limited {
  readonly account: AccountSet;
  readonly limit: number | undefined;
}

const printLimited = ({ account, limit }: Limited): string =>
  `${limit === undefined ? "no limit" : `limit=${limit}`}, an account with ${account.ids.length} notifications`;

const firstPageIsTheDefault: Judge<Limited> = async ({ account, limit }, world) => {
  const list = await openLists(world);
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

/** Reads the second page first, so that a service which remembers the page of an earlier request shows. */
const noPageIsTheFirst = async (list: List, query: ListQuery, size: number): Promise<Judgement> => {
  const second = await list({ ...query, page: 1 });
  const without = await list(query);
  const first = await list({ ...query, page: 0 });
  if (first.ids.length < size)
    return broke(`with ${asked({ ...query, page: 0 })} the first page is served`, `it got ${first.said}`);
  if (!sameSet(first.ids, without.ids))
    return broke(
      `with ${asked(query)} the answer is that of page=0`,
      `without page it got ${without.said}, with page=0 ${first.said}, and not the same notifications`,
    );
  return expectThat(
    !second.ids.some((id) => first.ids.includes(id)),
    `with ${asked(query)} the answer is that of page=0, not of page=1`,
    "page=0 and page=1 show the same notifications",
  );
};

const pageHoldsItsShare: Judge<Paging> = async ({ account, limit, page }, world) => {
  const list = await openLists(world);
  const { accountId, ids } = account;
  const share = Math.min(limit, ids.length - page * limit);
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

/** Walks the flow over the documented paths alone; here a path that gives nothing is the breach itself. */
const everyDocumentedPathServes = async (
  world: World,
): Promise<{ readonly judgement: Judgement; readonly cases: number }> => {
  const { client, target } = world;
  const authorized = await target.authorize();
  const grant = grantOf(authorized);
  if (grant === undefined) return nothingAt("/open-api/oauth/authorize", "a code", describe(authorized));
  const exchanged = await target.exchange(exchangeBody(client, grant.code));
  const { accessToken, refreshToken } = credentialsOf(exchanged);
  if (accessToken === undefined)
    return nothingAt("/open-api/oauth/access-token", "tokens", describe(exchanged));
  const listed = await target.list({ accessToken });
  if (!gaveData(listed)) {
    // A service may refuse to list nothing; a path that it does not serve it refuses like any other.
    const nowhere = await target.send({
      method: "GET",
      path: "/open-api/v1/nothing-is-here",
      headers: [[accessTokenHeader, accessToken]],
    });
    return world.notifications.accounts.length > 0 || nowhere.status === listed.status
      ? nothingAt("/open-api/v1/notifications", "a page of notifications", describe(listed))
      : {
          judgement: undecided("there may be no notification to list, and such a list is refused"),
          cases: 1,
        };
  }
  const refreshed = await target.refresh(refreshBody(client, refreshToken ?? ""));
  if (credentialsOf(refreshed).accessToken === undefined)
    return nothingAt("/open-api/oauth/refresh-token", "an access token", describe(refreshed));
  return { judgement: held, cases: 4 };
};

const nothingAt = (path: string, what: string, said: string): { judgement: Judgement; cases: number } => ({
  judgement: broke(`${path} gives ${what}`, `a right request got ${said}`),
  cases: 1,
});
