import { sleepFrom } from "../world/clock.ts";
import { ageBetween } from "../judging/interval.ts";
import { sideOf } from "../judging/lifetimes/probe.ts";
import { ageIn } from "../lifetimes/play.ts";
import fc from "fast-check";
import { credentialsOf, describe, type Answer } from "../world/exchange.ts";
import { duration, MINUTE_MS } from "../contract/duration.ts";
import type { Verdict } from "../contract/verdict.ts";
import { fail, pass, discard, type CaseVerdict } from "../judging/case-verdict.ts";
import { judgeFirstOfMany, withConnections } from "./shared/many.ts";
import { couldNotWait } from "./shared/attempts.ts";
import type { Rules, Run } from "../checks/rule.ts";
import { obtainTokens, opens, refreshBody, refreshSurely, timed, type IssuedTokens } from "../world/steps.ts";
import type { Target } from "../world/target.ts";
import type { World } from "../world/world.ts";

export const refreshReuseRules = {
  "refresh.reusable": {
    check: async (_world, run) =>
      run.all([await oneAfterAnother(run), await atOnce(run), await amongMany(run)]),
    waits: throughItsLife,
  },
} satisfies Rules;

const SERIES: Record<Run["effort"], readonly number[]> = {
  quick: [2, 30],
  standard: [2, 11, 130],
  thorough: [2, 11, 130, 600],
};

/** In a long series only these tokens are tried: the first ones, one in so many, and the last. */
const FIRST_AT_WORK = 6;
const ONE_AT_WORK_OF = 16;

/** The same refresh token repeatedly, over one connection and over changing ones, trying each new access token. */
const oneAfterAnother = (run: Run): Promise<Verdict> =>
  run.forEach(
    SERIES[run.effort].flatMap((times) => [
      { times, connection: "shared" as const },
      { times: Math.min(times, 3), connection: "another each time" as const },
    ]),
    async ({ times, connection }, world) => {
      const tokens = await obtainTokens(world);
      for (let time = 1; time <= times; time += 1) {
        const judgement = await (connection === "shared"
          ? refreshNow(
              world,
              world.target,
              tokens,
              `refresh ${time}`,
              time > FIRST_AT_WORK && time % ONE_AT_WORK_OF > 0 && time < times,
            )
          : withConnections(world, 1, ([own]) =>
              refreshNow(world, own ?? world.target, tokens, `refresh ${time}`),
            ));
        if (judgement.kind !== "passed") return judgement;
      }
      return pass;
    },
    {
      part: "one after another",
      print: ({ times, connection }) => `${times} refreshes, connection: ${connection}`,
    },
  );

/** One refresh that must succeed and return a working access token. Whether it works may be taken for granted. */
const refreshNow = async (
  world: World,
  target: Pick<Target, "refresh">,
  tokens: IssuedTokens,
  what: string,
  isTaken = false,
): Promise<CaseVerdict> => {
  const expected = "the refreshToken works repeatedly within its life, and each accessToken it yields works";
  const answer = await refreshSurely(world, tokens, target);
  const { accessToken } = credentialsOf(answer);
  if (accessToken === undefined) return fail(expected, `${what} was refused: ${describe(answer)}`);
  return isTaken || (await opens(world, accessToken))
    ? pass
    : fail(expected, `the accessToken of ${what} does not open the list`);
};

const ROUNDS_IN_A_LANE = 5;

/**
 * Several concurrent refreshes. Each must yield a token. Not all of those need to work, because a refresh may revoke
 * the previous token, but one of them must, and then the next one's.
 */
const atOnce = (run: Run): Promise<Verdict> =>
  run.forEach(
    Array.from({ length: run.cases(0.32, 2) }, (_, lane) => (lane === 0 ? 12 : 2 + (lane % 3))),
    (contenders, world) =>
      withConnections(world, contenders, async (connections) => {
        for (let round = 1; round <= ROUNDS_IN_A_LANE; round += 1) {
          const tokens = await obtainTokens(world);
          const answers = await Promise.all(
            connections.map((connection) =>
              connection.refresh(refreshBody(tokens.client, tokens.refreshToken)),
            ),
          );
          const refused = answers.find((answer) => credentialsOf(answer).accessToken === undefined);
          if (refused !== undefined)
            return fail(
              `each of ${contenders} concurrent refreshes yields an accessToken`,
              `one was refused: ${describe(refused)}`,
            );
          const opened = await Promise.all(
            answers.map((answer) => opens(world, credentialsOf(answer).accessToken ?? "")),
          );
          if (!opened.includes(true))
            return fail(
              `at least the last of ${contenders} concurrent refreshes yields a working accessToken`,
              "none of their accessTokens opens the list",
            );
          const after = await refreshNow(
            world,
            world.target,
            tokens,
            `the refresh after ${contenders} concurrent ones`,
          );
          if (after.kind !== "passed") return after;
        }
        return pass;
      }),
    { part: "at once", print: (contenders) => `${contenders} refreshes at the same time` },
  );

const amongMany = (run: Run): Promise<Verdict> =>
  run.once(
    (world) =>
      judgeFirstOfMany(
        world,
        () => obtainTokens(world),
        () => world.limits.refreshTokenLifetimeMs,
        (tokens) =>
          refreshNow(world, world.target, tokens, "the refresh after many other exchanges of the client"),
      ),
    { part: "among many" },
  );

/** One refresh token at several ages, the last of them right before its 30 days are over. */
async function throughItsLife(world: World, run: Run): Promise<Verdict> {
  const lifetimeMs = world.limits.refreshTokenLifetimeMs;
  if (!canBeWatched(world))
    return couldNotWait(
      world,
      `its last refreshes are due after up to ${duration(lifetimeMs)}`,
      "add `hooks.clock.advance` to the profile, or raise --max-wait",
    );
  return watchLives(world, run, lives(run, lastAgeMs(world)), (caseWorld, tokens, ageMs) =>
    refreshNow(caseWorld, caseWorld.target, tokens, `the refresh at an age of ${duration(ageMs)}`),
  );
}

const canBeWatched = ({ clock, limits }: World): boolean => clock.canWait(limits.refreshTokenLifetimeMs);

const lastAgeMs = ({ limits, tolerances, clock }: World): number =>
  limits.refreshTokenLifetimeMs -
  Math.min(tolerances.lifetimeGuardMs, limits.refreshTokenLifetimeMs / 4) -
  (clock.runs() ? ROOM_MS : 1);

/** Judges a refresh of the token at each of these ages. */
const watchLives = (
  world: World,
  run: Run,
  agesOfLives: readonly (readonly number[])[],
  refreshAt: (world: World, tokens: IssuedTokens, ageMs: number) => Promise<CaseVerdict>,
): Promise<Verdict> =>
  run.forEach(
    agesOfLives,
    async (agesMs, caseWorld) => {
      await caseWorld.clock.beginSecond(undefined, true);
      const { value: tokens, at: issued } = await timed(caseWorld, () => obtainTokens(caseWorld));
      for (const [index, nextMs] of agesMs.entries()) {
        const before = await caseWorld.clock.now();
        const { leastMs } = ageBetween(issued, before);
        const afterMs = agesMs[index + 1];
        // The last one may come a little sooner instead, so that what was issued in the same seconds ends together.
        const soonerMs = afterMs === undefined ? soonerBy(nextMs) : 0;
        const slackMs = afterMs === undefined ? soonerMs : (afterMs - nextMs) / 4;
        const leftMs = nextMs - soonerMs - leastMs;
        const now = leftMs > 0 ? await sleepFrom(caseWorld.clock, before, leftMs, slackMs) : before;
        const ageMs = ageBetween(issued, now).leastMs;
        const refreshed = await timed(caseWorld, () => refreshAt(caseWorld, tokens, ageMs), now);
        // A refresh planned for the end of its life may have come after it; only the measured age tells.
        const lifetimeMs = caseWorld.limits.refreshTokenLifetimeMs;
        if (sideOf(ageIn(caseWorld, { issued, lifetimeMs }, refreshed.at)) !== "alive")
          return index > 0 ? pass : discard("the token was too close to the end of its life");
        if (refreshed.value.kind !== "passed") return refreshed.value;
      }
      return pass;
    },
    {
      part: "late in its life",
      together: true,
      replays: world.clock.kind === "virtual" ? 2 : 0,
      print: (agesMs) => `refreshed at ${agesMs.map(duration).join(", ")}`,
    },
  );

/**
 * Judges the answers to refreshes throughout the life of one token of each client; does nothing if the run does not
 * wait that long. A refused refresh breaks refresh.reusable; the answers before it have been judged.
 */
export const answersThroughLife = (
  world: World,
  run: Run,
  judge: (world: World, answer: Answer, tokens: IssuedTokens) => CaseVerdict | Promise<CaseVerdict>,
): Promise<Verdict> | undefined => {
  if (!canBeWatched(world)) return undefined;
  const life = fixedLife(lastAgeMs(world));
  return watchLives(world, run, [life, life], async (caseWorld, tokens) => {
    const answer = await refreshSurely(caseWorld, tokens);
    return credentialsOf(answer).accessToken === undefined ? pass : judge(caseWorld, answer, tokens);
  });
};

/** Where time runs, sleeps overshoot a little, repeatedly; the exact end is for refresh.lifetime. */
const ROOM_MS = 3_000;
/** How much sooner than right at its end a token may be refreshed for the last time, in milliseconds. */
const soonerBy = (lastMs: number): number => Math.min(30_000, lastMs / 100);

/** Ages to refresh at: at once, at the end, typical lifetimes of caches and grace periods, and random ones. */
const lives = (run: Run, lastMs: number): readonly (readonly number[])[] => {
  const generated = fc.sample(
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 }),
    { seed: run.seed, numRuns: run.cases(0.12) },
  );
  return [
    [0, lastMs],
    fixedLife(lastMs),
    ...generated.map((shares) => [
      ...shares
        .map((share) => share * share * lastMs)
        .filter((ageMs) => ageMs < lastMs - soonerBy(lastMs))
        .toSorted((a, b) => a - b),
      lastMs,
    ]),
  ];
};

const fixedLife = (lastMs: number): readonly number[] =>
  [
    0,
    2_000,
    MINUTE_MS + 1_000,
    11 * MINUTE_MS,
    61 * MINUTE_MS,
    25 * 60 * MINUTE_MS,
    8 * 1_440 * MINUTE_MS,
    lastMs,
  ].filter((ageMs) => ageMs <= lastMs);
