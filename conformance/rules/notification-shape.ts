import { credentialsOf, describe, grantOf, objectOf, unlessUndecided } from "../world/exchange.ts";
import { pagesIn } from "../arbitraries/paging.ts";
import { accessTokenHeader } from "../contract/forms.ts";
import { fail, pass, discard, inconclusive, shownBy } from "../judging/case-verdict.ts";
import {
  exchangesOf,
  greatestLimit,
  openLists,
  openListsRefreshed,
  type List,
  type Listing,
} from "./shared/lists.ts";
import { asked, type ListQuery } from "../judging/laws/lists.ts";
import type { HistoryVerdict, Judge, Rules } from "../checks/rule.ts";
import { exchangeBody, gaveData, refreshBody } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import {
  createdThenIsDatedThen,
  createdWhen,
  laterTimes,
  pageHolds,
  secondClientsOwnHolds,
} from "./notification-dates.ts";
import { tellsClockTime } from "./told-time.ts";

/** Sections 2.3, 4.4 and 9: the form of a page of notifications, and where it is served. */
export const notificationShapeRules = {
  "notifications.shape": {
    needs: ["notifications"],
    writes: true,
    check: async (world, run) => {
      // If nothing is granted, the rules' own cases report that.
      const isDated = await unlessUndecided(tellsClockTime(world), false);
      const judgePage: Judge<ShapeCase> = async (
        { query, mayBeRefused, ofSecondClient, isRefreshed },
        world,
      ) => {
        if (ofSecondClient === true) return secondClientsOwnHolds(isDated, world);
        const list = await (isRefreshed === true ? openListsRefreshed(world) : openLists(world));
        const seen = await list(query);
        if (seen.served || (await claimsPage(seen, list)))
          return shownBy(exchangesOf(seen), pageHolds(seen, isDated ? createdWhen(world) : undefined, world));
        return mayBeRefused
          ? discard("the service refuses a request that nothing matches")
          : fail(
              `a list request with ${asked(query)} gets a page of notifications`,
              seen.said,
              exchangesOf(seen),
            );
      };
      const greatest = await greatestLimit(world);
      const later = isDated ? await laterTimes(world) : [];
      return run.all([
        run.forEach(shapeCases(world, greatest), judgePage, { print: printCase }),
        ...(later.length > 0
          ? [
              run.forEach(later, createdThenIsDatedThen(greatest), {
                together: true,
                replays: 0,
                print: ({ earliestMs }) => `an event at ${new Date(earliestMs).toISOString()} or soon after`,
              }),
            ]
          : []),
      ]);
    },
  },

  "notifications.versioned-path": (_world, run) => run.once(everyDocumentedPathServes),
} satisfies Rules;

/**
 * Whether an answer that is no page is a malformed one, not a refusal: it has a total, or an array of data in an answer
 * that otherwise is what a page comes in.
 */
const claimsPage = async ({ answer }: Listing, list: List): Promise<boolean> => {
  if (answer === undefined) return false;
  const { data, total, ...others } = objectOf(answer);
  if (typeof total === "number" || !Array.isArray(data)) return typeof total === "number";
  const page = (await list({ limit: 1 })).answer;
  if (page?.status !== answer.status) return false;
  const usual = objectOf(page);
  return Object.entries(others).every(
    ([name, value]) => JSON.stringify(value) === JSON.stringify(usual[name]),
  );
};

interface ShapeCase {
  readonly query: ListQuery;
  readonly mayBeRefused?: true;
  /** In an account of its own. */
  readonly ofSecondClient?: true;
  /** With an accessToken of a refresh, which may have lost what the first one was entitled to. */
  readonly isRefreshed?: true;
}

const printCase = ({ query, ofSecondClient, isRefreshed }: ShapeCase): string =>
  [
    `a list request with ${asked(query)}`,
    ...(ofSecondClient === true ? ["of the second client"] : []),
    ...(isRefreshed === true ? ["with the accessToken of a refresh"] : []),
  ].join(", ");

/** Every page of the known notifications, and the kinds of request that a service may answer by another code path. */
const shapeCases = (
  { prepared: { notifications }, limits: { defaultLimit }, events, secondClient }: World,
  greatest: number,
): readonly ShapeCase[] => {
  const [first] = notifications.accounts;
  const pages = notifications.accounts.flatMap(({ accountId, ids }) =>
    Array.from({ length: Math.min(6, pagesIn(ids.length, defaultLimit)) }, (_, page) => ({
      query: { accountId, page },
    })),
  );
  return [
    ...pages,
    ...(events?.accountsAreFresh === true && secondClient !== undefined
      ? [{ query: {}, ofSecondClient: true as const }]
      : []),
    { query: {} },
    // What other rules have created is there, too.
    { query: { limit: greatest } },
    { query: { limit: 1 } },
    { query: { page: 0 } },
    ...(first === undefined
      ? []
      : [
          { query: { accountId: first.accountId } },
          { query: { accountId: first.accountId }, isRefreshed: true as const },
          { query: { accountId: first.accountId, limit: greatest } },
          { query: { accountId: first.accountId, limit: 3, page: 0 } },
          { query: { id: first.ids.at(-1) ?? "" } },
          { query: { id: first.ids[0] ?? "", accountId: first.accountId } },
          { query: { accountId: first.accountId, page: first.ids.length + 1 }, mayBeRefused: true as const },
        ]),
    { query: { accountId: notifications.emptyAccountId }, mayBeRefused: true },
    { query: { id: notifications.emptyAccountId }, mayBeRefused: true },
  ];
};

/** Walks the flow over the documented paths only; a path that yields nothing is the breach itself. */
const everyDocumentedPathServes = async (world: World): Promise<HistoryVerdict> => {
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
    // A service may refuse to list nothing, but an unserved path is refused like any other.
    const nowhere = await target.send({
      method: "GET",
      path: "/open-api/v1/nothing-is-here",
      headers: [[accessTokenHeader, accessToken]],
    });
    return world.prepared.notifications.accounts.length > 0 || nowhere.status === listed.status
      ? nothingAt("/open-api/v1/notifications", "a page of notifications", describe(listed))
      : {
          ...inconclusive("there may be no notification to list, and the service refuses an empty list"),
          cases: 1,
        };
  }
  const refreshed = await target.refresh(refreshBody(client, refreshToken ?? ""));
  if (credentialsOf(refreshed).accessToken === undefined)
    return nothingAt("/open-api/oauth/refresh-token", "an access token", describe(refreshed));
  return { ...pass, cases: 4 };
};

const nothingAt = (path: string, what: string, said: string): HistoryVerdict => ({
  ...fail(`${path} returns ${what}`, `a valid request got ${said}`),
  cases: 1,
});
