import { credentialsOf, describe, grantOf, objectOf, unlessUndecided } from "../world/exchange.ts";
import { pagesIn } from "../arbitraries/paging.ts";
import { accessTokenHeader, momentOf } from "../contract/forms.ts";
import {
  fail,
  pass,
  discard,
  inconclusive,
  shownBy,
  allHold,
  type CaseVerdict,
} from "../judging/case-verdict.ts";
import {
  exchangesOf,
  greatestLimit,
  listsShownTo,
  openLists,
  openListsRefreshed,
  type List,
  type Listing,
} from "./shared/lists.ts";
import { asked, type ListQuery } from "../judging/laws/lists.ts";
import type { HistoryVerdict, Judge, Rules } from "../checks/rule.ts";
import { alsoAsUsual } from "./shared/usual.ts";
import { exchangeBody, gaveData, obtainTokens, refreshBody, timed } from "../world/steps.ts";
import type { World } from "../world/world.ts";
import { tellsClockTime, offBy } from "./told-time.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { verdictOf } from "../judging/laws/breach.ts";
import { pageShapeBreach } from "../judging/laws/notification.ts";
import { fold } from "../judging/laws/pages.ts";
import { tellingTimes } from "../judging/lifetimes/calendar.ts";
import type { Client } from "../world/target.ts";
import { EventHookFailed, type Events } from "../world/hooks/events.ts";
import { untilListed } from "../world/listing.ts";

/** When a notification was created, by its id in lower case; undefined if the run did not create it. */
type CreatedWhen = (id: unknown) => TimeInterval | undefined;

/** For the notifications that the run created beforehand. */
const createdWhen =
  ({ prepared: { notifications } }: World): CreatedWhen =>
  (id) =>
    notifications.accounts.map((account) => account.created?.get(fold(id))).find((at) => at !== undefined);

/** A page has its shape, and where it is known when its notifications were created, they say so. */
const pageHolds = (seen: Listing, created: CreatedWhen | undefined, world: World): CaseVerdict => {
  const breach = pageShapeBreach(seen.answer === undefined ? {} : objectOf(seen.answer));
  if (breach !== undefined) return verdictOf(breach, () => seen.said);
  return created === undefined ? pass : datesAreTrue(seen.items, created, world);
};

/** createTime is the time of creation, in UTC (section 2.3). For events that the run triggered, their time is known. */
const datesAreTrue = (items: Listing["items"], created: CreatedWhen, { tolerances }: World): CaseVerdict => {
  for (const { id, createTime } of items) {
    const at = created(id);
    const off =
      at === undefined
        ? undefined
        : offBy(momentOf(String(createTime)) ?? Number.NaN, at, tolerances.visibilityMs);
    if (at !== undefined && off !== undefined)
      return fail(
        "createTime is the time of creation, in UTC",
        `it is ${JSON.stringify(createTime)} for an event triggered at ${new Date(at.earliestMs).toISOString()} by the service's clock, ${off}`,
      );
  }
  return pass;
};

/** The times to which this run moves the clock and creates a notification, because wrong dates show there. */
const laterTimes = async ({ clock, events }: World): Promise<readonly TimeInterval[]> => {
  if (events?.accountsAreFresh !== true) return [];
  const { latestMs } = await clock.now();
  return tellingTimes(latestMs).filter(({ latestMs: endMs }) => clock.canWait(endMs - latestMs));
};

/** Creates a notification in an account of its own, and reads that account; again when it must be listed, if it is not. */
const createAndRead = async (world: World, events: Events, client?: Client) => {
  const accountId = events.account();
  const { at } = await timed(world, () => events.trigger(accountId, client?.id));
  const read = async () => (await openLists(world, client))({ accountId });
  let seen = await read();
  if (seen.items.length === 0) {
    const { visibilityMs } = world.tolerances;
    await world.clock.sleep(visibilityMs, visibilityMs);
    seen = await read();
  }
  return { accountId, at, seen };
};

/**
 * Judges a notification that concerns the second client, if that client is shown it. Hooks may ignore the client, and
 * services may show notifications to the first client only.
 */
const secondClientsOwnHolds = async (isDated: boolean, world: World): Promise<CaseVerdict> => {
  const { events, secondClient } = world;
  if (events === undefined || secondClient === undefined) return discard("nothing can be created for it");
  try {
    const { at, seen } = await createAndRead(world, events, secondClient);
    return seen.items.length === 0
      ? discard("it is shown nothing")
      : pageHolds(seen, isDated ? () => at : undefined, world);
  } catch (error) {
    if (error instanceof EventHookFailed) return discard("the hook creates nothing for it");
    throw error;
  }
};

/**
 * Judges notifications that the run created at its start, if they are still listed days, weeks or months later, and the
 * page of the whole list, with what other rules have created until then.
 */
const olderHold = async (world: World, greatest: number): Promise<CaseVerdict> => {
  const [account] = world.prepared.notifications.accounts;
  if (account === undefined) return pass;
  const list = await openLists(world);
  const old = [await list({ accountId: account.accountId }), await list({ limit: greatest })];
  return allHold(old.map((seen) => (seen.served ? pageHolds(seen, createdWhen(world), world) : pass)));
};

/** A notification that is created at such a time has that time as its createTime. `greatest` is the list's greatest limit. */
const createdThenIsDatedThen =
  (greatest: number): Judge<TimeInterval> =>
  async ({ earliestMs, latestMs }, world) => {
    const { clock, events } = world;
    if (events === undefined) return discard("nothing can be created");
    await clock.sleepUntil(earliestMs, latestMs - earliestMs);
    const { accountId, at, ...first } = await createAndRead(world, events);
    let { seen } = first;
    if (seen.items.length === 0) {
      const list = await openLists(world);
      await untilListed(world, async () => (seen = await list({ accountId })).items.length > 0);
    }
    const old = await olderHold(world, greatest);
    if (old.kind === "failed") return old;
    // What is not listed in time is for other rules to judge.
    return seen.items.length === 0 ? discard("it was not listed in time") : pageHolds(seen, () => at, world);
  };

/** Sections 2.3, 4.4 and 9: the form of a page of notifications, and where it is served. */
export const notificationShapeRules = {
  "notifications.shape": {
    needs: ["notifications"],
    check: async (world, run) => {
      // If nothing is granted, the rules' own cases report that.
      const isDated = await unlessUndecided(tellsClockTime(world), false);
      const judgePage: Judge<ShapeCase> = async (one, world) => {
        if (one.ofSecondClient === true) return secondClientsOwnHolds(isDated, world);
        const list = await (one.isRefreshed === true ? openListsRefreshed(world) : openLists(world));
        return judgeListed(one, list, await list(one.query), world);
      };
      const judgeListed = async (
        { query, mayBeRefused }: ShapeCase,
        list: List,
        seen: Listing,
        world: World,
      ): Promise<CaseVerdict> => {
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
      return run.all([
        run.forEach(shapeCases(world, greatest), judgePage, { print: printCase }),
        alsoAsUsual(run, async (own, target) => {
          const { accessToken } = await obtainTokens(own);
          const list = listsShownTo({ ...own, target }, accessToken);
          return judgeListed({ query: { limit: greatest } }, list, await list({ limit: greatest }), own);
        }),
      ]);
    },
    waits: async (world, run) => {
      const isDated = await unlessUndecided(tellsClockTime(world), false);
      const later = isDated ? await laterTimes(world) : [];
      if (later.length === 0) return undefined;
      return run.forEach(later, createdThenIsDatedThen(await greatestLimit(world)), {
        together: true,
        replays: 0,
        print: ({ earliestMs }) => `an event at ${new Date(earliestMs).toISOString()} or soon after`,
      });
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
