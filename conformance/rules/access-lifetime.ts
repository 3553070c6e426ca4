import { exchangeLate, sleepHalfItsLife } from "../world/late-steps.ts";
import type { TimeInterval } from "../judging/interval.ts";
import { expectThat } from "../judging/case-verdict.ts";
import { judgeFirstOfMany, manyTimes } from "./shared/many.ts";
import { beforeMonthEnds } from "../lifetimes/calendar.ts";
import type { HistoryVerdict, Deferral, ExpiringCredential, Judge, Run, Rules } from "../checks/rule.ts";
import { ask } from "../lifetimes/ask.ts";
import { windowsOfMinutes } from "../judging/lifetimes/entries.ts";
import { issueCrowd, judgeCrowd, type Crowd } from "../lifetimes/crowd.ts";
import { judgeLifetime, roomAfter, type JudgedLifetime } from "../lifetimes/lifetime.ts";
import {
  obtainRefreshed,
  obtainTokens,
  opens,
  refreshBody,
  timed,
  type IssuedTokens,
} from "../world/steps.ts";
import {
  freshAccessTokenWorks,
  mustOpen,
  type Origin,
  isShownSomething,
  isShownSomethingAtOnce,
} from "../world/controls.ts";
import { ControlFailed, unlessControlFails } from "../world/exchange.ts";
import { SECOND_MS } from "../contract/duration.ts";
import type { World } from "../world/world.ts";
import { historyName, refreshedAsTold, refreshHistories, total } from "./access-histories.ts";

/** An access token with what it was issued with, and the interval in which that was. */
type Bearer = IssuedTokens & { readonly issued: TimeInterval };

type Issued = Pick<IssuedTokens, "accessToken" | "expiresInMs">;

const deferredToken = (
  origin: Origin,
  issue: (world: World) => Promise<Issued>,
): ExpiringCredential<Issued> & Deferral => ({
  name: `accessToken of ${origin}`,
  lifetimeMs: ({ prepared }) => prepared.accessLifetimeMs,
  issue: async (world) => {
    const { accessToken, expiresInMs } = await issue(world);
    return { accessToken, expiresInMs };
  },
  lifetimeOf: ({ expiresInMs }) => expiresInMs,
  alive: (world, { accessToken }) => isShownSomething(world, accessToken),
  control: (world) =>
    freshAccessTokenWorks(world, world, origin, (accessToken) => isShownSomething(world, accessToken)),
  windows: windowsOfMinutes,
  isShort: true,
});

const tokensOfEachCall = [
  deferredToken("an exchange", (world) => obtainTokens(world)),
  deferredToken("a refresh", async (world) => obtainRefreshed(world, await obtainTokens(world))),
];

/** A token that states a life of centuries is not seen to its end, but may be seen dead long before. */
const outlivesMonth: Judge<(typeof tokensOfEachCall)[number]> = async (token, world) => {
  const { value, at: issued } = await timed(world, () => token.issue(world, 0));
  if (!(await token.alive(world, value))) throw new ControlFailed(`a fresh ${token.name} opens no list`);
  await world.clock.sleep(world.limits.refreshTokenLifetimeMs);
  const woken = await world.clock.now();
  const issuedToken = { credential: value, issued, lifetimeMs: value.expiresInMs };
  const { verdict } = await ask(world, token, issuedToken, { now: () => world.clock.now(), woken });
  return verdict;
};

export const accessLifetimeRules = {
  "access.lifetime": {
    needs: ["moved-list"],
    deferred: tokensOfEachCall,
    waitsMs: ({ accessLifetimeMs, limits, tolerances }) =>
      accessLifetimeMs * 2.2 + limits.codeLifetimeMs + roomAfter({ tolerances }),
    check: (_world, run) => run.once(worksAmongMany, { part: "many tokens and requests" }),
    waits: async (world, run) => {
      const credentials = await expiringTokens(
        world,
        run,
        await unlessControlFails(viewOfSecond(world), undefined),
      );
      return run.all([
        ...credentials.lifetimes.map((credential) => judgeLifetime(world, run, credential)),
        ...judgeCrowd(world, run, credentials.crowd),
      ]);
    },
    checkSooner: (_world, run) => run.forEach(tokensOfEachCall, outlivesMonth, { print: ({ name }) => name }),
  },
} satisfies Rules;

/** More than a limit of a hundred requests for each token. */
const MANY_READS = 110;

/** Enough requests to reach most of a few processes behind one address. */
const PROCESSES = 8;

/** Neither further tokens of its client nor requests with it end a token. */
const worksAmongMany = (world: World): Promise<HistoryVerdict> =>
  judgeFirstOfMany(
    world,
    () => obtainTokens(world),
    ({ expiresInMs }) => expiresInMs,
    async ({ accessToken }) => {
      await manyTimes(() => opens(world, accessToken), MANY_READS);
      return expectThat(
        await opens(world, accessToken),
        "an accessToken is accepted until expiresIn seconds after issue",
        "it is refused after many other exchanges by its client and many requests with it",
      );
    },
    ({ accessToken }) => mustOpen(world, accessToken, "even a fresh accessToken"),
  );

/** Issues a credential, at `endMs` if given. */
type IssueBy<C> = (world: World, way: number, endMs?: number) => Promise<C>;
type Beginning = <C>(takesMs: (way: number) => number, issue: IssueBy<C>) => JudgedLifetime<C>["issue"];

/**
 * If time can be moved, begins what takes this long (in milliseconds) so late that it ends with what takes longest:
 * tokens that are issued at one moment end at one moment, which takes fewer moves of the clock.
 */
const endingTogether = async ({ clock }: World, longestMs: number): Promise<Beginning> => {
  if (clock.kind === "real") return (_takesMs, issue) => issue;
  const endMs = Math.ceil((await clock.now()).latestMs / SECOND_MS) * SECOND_MS + longestMs;
  return (takesMs, issue) => async (world, way) => {
    const startMs = endMs - takesMs(way);
    if ((await world.clock.now()).earliestMs < startMs) await world.clock.sleepUntil(startMs);
    return issue(world, way, Math.max(endMs, endMs - longestMs + takesMs(way)));
  };
};

/** Tokens from every call that issues one, idle and in use. */
const expiringTokens = async (
  world: World,
  run: Run,
  second: View | undefined,
): Promise<{ readonly lifetimes: readonly JudgedLifetime<Bearer>[]; readonly crowd: Crowd<Bearer> }> => {
  const few = run.cases(0.12, 1);
  const histories = refreshHistories(world, run);
  const { prepared, limits } = world;
  const tookMs = (way: number): number => total(histories[way] ?? []);
  // The history of days ends with the refreshToken instead.
  const lengths = histories
    .map(total)
    .filter((lengthMs) => lengthMs < limits.refreshTokenLifetimeMs - prepared.accessLifetimeMs);
  const together = await endingTogether(world, Math.max(0, ...lengths));
  const exchangedTogether = together(() => limits.codeLifetimeMs / 2, exchanged);
  const tokens: readonly Differing[] = [
    {
      name: "accessToken of an exchange",
      issue: exchangedTogether,
      view: isShownSomething,
    },
    {
      name: "accessToken of a refresh",
      origin: "a refresh",
      ways: histories.map(historyName),
      issue: together(tookMs, async (one, way, endMs) =>
        bearer(await refreshedAsTold(one, histories[way] ?? [], endMs)),
      ),
      perSide: histories.length + few,
    },
    ...(world.clock.kind === "virtual" ? [tokenOfMonthEnd(world)] : []),
    { name: "accessToken in use", issue: exchangedTogether, ...inUse, perSide: few + 1 },
    {
      name: "refreshed accessToken in use",
      origin: "a refresh",
      issue: together(() => prepared.accessLifetimeMs / 2, refreshedLater),
      ...inUse,
      perSide: few,
    },
    {
      name: "accessToken whose grant is refreshed",
      issue: exchangedTogether,
      use: refreshGrant,
      // A refresh may end the earlier token, so only its death can be required.
      sides: "dead",
      perSide: few,
    },
  ];
  const expiring = expiringIn(world, second);
  return {
    lifetimes: tokens.map(expiring),
    crowd: {
      ...expiring({ name: "accessToken", issue: exchangedTogether }),
      issue: together(() => 0, exchangedWithOthers),
    },
  };
};

/** Where it lives longer than a code does, both kinds end together. */
const tokenOfMonthEnd = ({
  prepared: { accessLifetimeMs },
  limits: { codeLifetimeMs },
}: World): Differing => ({
  name: "accessToken at the end of a month",
  startsAt: beforeMonthEnds(
    accessLifetimeMs > codeLifetimeMs ? accessLifetimeMs - codeLifetimeMs / 2 : accessLifetimeMs / 2,
  ),
  issue: exchangedAtOnce,
  perSide: 1,
});

/** Whether an access token opens the list, as seen by one client. */
type View = (world: World, accessToken: string) => Promise<boolean>;

/**
 * How to tell whether a token of the second client works, since the known notifications may be the first client's only.
 * Undefined if nothing tells: a token that was never issued may also get an empty page.
 */
const viewOfSecond = async (world: World): Promise<View | undefined> => {
  if (world.secondClient === undefined) return undefined;
  const { accessToken } = await obtainTokens(world, { client: world.secondClient });
  if (await isShownSomethingAtOnce(world, accessToken)) return isShownSomethingAtOnce;
  return (await opens(world, world.unique())) || !(await opens(world, accessToken)) ? undefined : opens;
};

/** How a token is probed: as its own client can tell whether it works, and with a fresh one from the same call. */
const seenBy = (
  world: World,
  second: View | undefined,
  view: View,
  origin: Origin,
): Required<Pick<JudgedLifetime<Bearer>, "alive" | "control">> => {
  const viewOf = ({ client }: Bearer): View => (client.id === world.client.id ? view : (second ?? view));
  return {
    alive: (one, token) => viewOf(token)(one, token.accessToken),
    control: (one, token) =>
      freshAccessTokenWorks(one, token, origin, (accessToken) => viewOf(token)(one, accessToken)),
  };
};

type Differing = Pick<JudgedLifetime<Bearer>, "name" | "issue"> &
  Partial<JudgedLifetime<Bearer>> & {
    /** The call that issued it. */
    readonly origin?: Origin;
    /** What shows whether it works; by default one form of the list. */
    readonly view?: View;
  };

const expiringIn =
  (world: World, second: View | undefined) =>
  ({
    origin = "an exchange",
    // Whether a dead token opens another form of the list is checked for tokens of an exchange only.
    view = isShownSomethingAtOnce,
    ...differing
  }: Differing): JudgedLifetime<Bearer> => ({
    lifetimeMs: ({ prepared }) => prepared.accessLifetimeMs,
    lifetimeOf: ({ expiresInMs }) => expiresInMs,
    issuedIn: ({ issued }) => issued,
    ...(second === undefined ? { clients: "first" } : {}),
    ...seenBy(world, second, view, origin),
    ...differing,
  });

const bearer = ({ value, at }: { readonly value: IssuedTokens; readonly at: TimeInterval }): Bearer => {
  if (!(value.expiresInMs > 0) || !Number.isFinite(value.expiresInMs))
    throw new ControlFailed("expiresIn is not a positive number, so there is no lifetime to judge");
  return { ...value, issued: at };
};

/** Time counts from the exchange, which comes a while after the code. */
const exchanged = async (world: World): Promise<Bearer> => bearer(await exchangeLate(world));

const exchangedAtOnce = async (world: World): Promise<Bearer> =>
  bearer(await timed(world, () => obtainTokens(world)));

const exchangedWithOthers: Crowd<Bearer>["issue"] = async (world) => {
  const { value, at } = await timed(world, () => issueCrowd(world, (one) => obtainTokens(one)));
  return value.map((member) => ({ ...member, credential: bearer({ value: member.credential, at }) }));
};

/** Time counts from the refresh, half of the first token's life after the exchange. */
const refreshedLater = async (world: World): Promise<Bearer> => {
  const { value: tokens, at } = await timed(world, () => obtainTokens(world));
  const lifetimeMs = Math.min(tokens.expiresInMs, world.limits.refreshTokenLifetimeMs) || 0;
  await sleepHalfItsLife(world, at, lifetimeMs);
  const refreshed = await timed(world, () => obtainRefreshed(world, tokens));
  return bearer({ value: { ...tokens, ...refreshed.value }, at: refreshed.at });
};

const look = async (world: World, { accessToken }: Bearer): Promise<void> => {
  await world.target.list({ accessToken, query: { limit: 1 } });
};

const inUse = { use: look, lastUses: PROCESSES };

const refreshGrant = async (world: World, { client, refreshToken }: Bearer): Promise<void> => {
  await world.target.refresh(refreshBody(client, refreshToken));
};
