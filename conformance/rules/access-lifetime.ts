import { expectThat } from "../judging/case-verdict.ts";
import { judgeFirstOfMany, manyTimes } from "./shared/many.ts";
import type { HistoryVerdict, ExpiringCredential, Judge, Run, Rules, WaitFacts } from "../checks/rule.ts";
import { exchangedLate, lifeOf, probeNow, type Stage } from "../lifetimes/play.ts";
import { judgeCrowd, judgeLifetime, onDates, roomAfter, type JudgedLifetime } from "../lifetimes/lifetime.ts";
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
import { DAY_MS, duration } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import { ControlFailed, unlessControlFails } from "../world/exchange.ts";
import type { World } from "../world/world.ts";
import { historyName, refreshHistories, stagesOf, total } from "./access-histories.ts";

type Issued = Pick<IssuedTokens, "accessToken" | "expiresInMs">;

const deferredToken = (
  origin: Origin,
  issue: (world: World) => Promise<Issued>,
): ExpiringCredential<Issued> => ({
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
});

const tokensOfEachCall = [
  deferredToken("an exchange", (world) => obtainTokens(world)),
  deferredToken("a refresh", async (world) => obtainRefreshed(world, await obtainTokens(world))),
];

/** A longer life than any clock is moved: it is known to be over after less, or not known to end. */
const LONGEST_MS = 50 * 365 * DAY_MS;

const wholeWaitMs = ({ accessLifetimeMs, limits, tolerances }: WaitFacts): number =>
  accessLifetimeMs * 2.2 + limits.codeLifetimeMs + roomAfter({ tolerances });

const afterMonth = async (run: Run, waitMs: number): Promise<Verdict> => {
  const verdict = await run.forEach(tokensOfEachCall, outlivesMonth, { print: ({ name }) => name });
  const reason = `it would wait for ${duration(waitMs)}, more than Touchstone moves any clock; if expiresIn is the reason, it is probably not in seconds; what needs less time was judged, and holds`;
  return verdict.kind === "passed" ? { kind: "could-not-run", missing: "clock.advance", reason } : verdict;
};

/** A token that states a life of centuries is not seen to its end, but may be seen dead long before. */
const outlivesMonth: Judge<(typeof tokensOfEachCall)[number]> = async (token, world) => {
  const { value, at: issued } = await timed(world, () => token.issue(world, 0));
  if (!(await token.alive(world, value))) throw new ControlFailed(`a fresh ${token.name} opens no list`);
  await world.clock.sleep(world.limits.refreshTokenLifetimeMs);
  const woken = await world.clock.now();
  const life = lifeOf(world, token, value, issued);
  return (await probeNow(world, token, { held: value, life }, woken)).verdict;
};

export const accessLifetimeRules = {
  "access.lifetime": {
    needs: ["moved-list"],
    deferred: tokensOfEachCall,
    waitsMs: (facts) => Math.min(wholeWaitMs(facts), LONGEST_MS),
    check: (_world, run) => run.once(worksAmongMany, { part: "many tokens and requests" }),
    waits: async (world, run) => {
      const { accessLifetimeMs } = world.prepared;
      const waitMs = wholeWaitMs({ ...world, accessLifetimeMs });
      if (!world.clock.canWait(waitMs)) return afterMonth(run, waitMs);
      const credentials = expiringTokens(
        world,
        run,
        await unlessControlFails(viewOfSecond(world), undefined),
      );
      return run.all([
        ...credentials.lifetimes.map((credential) => judgeLifetime(world, run, credential)),
        ...judgeCrowd(world, run, credentials.crowd),
      ]);
    },
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

/**
 * Tokens from every call that issues one, idle and in use. Where time can be moved, what takes long to issue begins so much
 * earlier: tokens that are issued at one moment end at one moment, which takes fewer moves of the clock.
 */
const expiringTokens = (
  world: World,
  run: Run,
  second: View | undefined,
): {
  readonly lifetimes: readonly JudgedLifetime<IssuedTokens>[];
  readonly crowd: JudgedLifetime<IssuedTokens>;
} => {
  const few = run.cases(0.12, 1);
  const { prepared, limits } = world;
  const histories = refreshHistories(world);
  const togetherMs = Math.max(0, ...histories.map(total));
  const before = (tookMs: number): number =>
    world.clock.kind === "real" ? 0 : Math.max(0, togetherMs - tookMs);
  const exchanged = checked(exchangedLate(world, before(limits.codeLifetimeMs / 2)));
  const halfMs = Math.min(prepared.accessLifetimeMs, limits.refreshTokenLifetimeMs) / 2 || 0;
  const tokens: readonly Differing[] = [
    { name: "accessToken of an exchange", stages: exchanged, view: isShownSomething },
    {
      name: "accessToken of a refresh",
      origin: "a refresh",
      ways: histories.map(historyName),
      stages: checked((way) => stagesOf(histories[way] ?? [], before(total(histories[way] ?? [])))),
      perSide: histories.length + few,
    },
    ...tokensOfDates(world),
    { name: "accessToken in use", stages: exchanged, ...inUse, perSide: few + 1 },
    {
      name: "refreshed accessToken in use",
      origin: "a refresh",
      // Time counts from the refresh, half of the first token's life after the exchange.
      stages: checked(() => stagesOf([halfMs], before(halfMs))),
      ...inUse,
      perSide: few,
    },
    {
      name: "accessToken whose grant is refreshed",
      stages: exchanged,
      use: refreshGrant,
      // A refresh may end the earlier token, so only its death can be required.
      sides: "dead",
      perSide: few,
    },
  ];
  const expiring = expiringIn(world, second);
  return {
    lifetimes: tokens.map(expiring),
    crowd: expiring({ name: "accessToken", issue: exchangedAtOnce, begins: { begin: before(0) } }),
  };
};

/** Where it lives longer than a code does, both kinds end together. */
const tokensOfDates = (world: World): readonly Differing[] => {
  const { accessLifetimeMs } = world.prepared;
  const { codeLifetimeMs } = world.limits;
  const leadMs =
    accessLifetimeMs > codeLifetimeMs ? accessLifetimeMs - codeLifetimeMs / 2 : accessLifetimeMs / 2;
  return onDates(world, ["a month ends", "clocks go forward"], leadMs).map(({ when, begins }) => ({
    name: `accessToken issued before ${when}`,
    begins,
    issue: exchangedAtOnce,
    perSide: 1,
  }));
};

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
  return (await opens(world, world.target.unique())) || !(await opens(world, accessToken))
    ? undefined
    : opens;
};

/** How a token is probed: as its own client can tell whether it works, and with a fresh one from the same call. */
const seenBy = (
  world: World,
  second: View | undefined,
  view: View,
  origin: Origin,
): Required<Pick<JudgedLifetime<IssuedTokens>, "alive" | "control">> => {
  const viewOf = ({ client }: IssuedTokens): View =>
    client.id === world.client.id ? view : (second ?? view);
  return {
    alive: (one, token) => viewOf(token)(one, token.accessToken),
    control: (one, token) =>
      freshAccessTokenWorks(one, token, origin, (accessToken) => viewOf(token)(one, accessToken)),
  };
};

type Differing = Pick<JudgedLifetime<IssuedTokens>, "name"> &
  Partial<JudgedLifetime<IssuedTokens>> & {
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
  }: Differing): JudgedLifetime<IssuedTokens> => ({
    lifetimeMs: ({ prepared }) => prepared.accessLifetimeMs,
    lifetimeOf: ({ expiresInMs }) => expiresInMs,
    ...(second === undefined ? { clients: "first" } : {}),
    ...seenBy(world, second, view, origin),
    ...differing,
  });

const bearer = (tokens: IssuedTokens): IssuedTokens => {
  if (!(tokens.expiresInMs > 0) || !Number.isFinite(tokens.expiresInMs))
    throw new ControlFailed("expiresIn is not a positive number, so there is no lifetime to judge");
  return tokens;
};

type Stages = (way: number) => readonly Stage[];

/** The same stages, of which the last must state a lifetime. */
const checked =
  (stages: Stages): Stages =>
  (way) =>
    stages(way).map((stage, at, all) =>
      at < all.length - 1
        ? stage
        : { ...stage, act: async (world, held) => bearer((await stage.act(world, held)) as IssuedTokens) },
    );

const exchangedAtOnce = async (world: World): Promise<IssuedTokens> => bearer(await obtainTokens(world));

const look = async (world: World, { accessToken }: IssuedTokens): Promise<void> => {
  await world.target.list({ accessToken, query: { limit: 1 } });
};

const inUse = { use: look, lastUses: PROCESSES };

const refreshGrant = async (world: World, { client, refreshToken }: IssuedTokens): Promise<void> => {
  await world.target.refresh(refreshBody(client, refreshToken));
};
