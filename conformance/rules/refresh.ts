import fc from "fast-check";
import { credentialsOf, describe, pageOf } from "../answers.ts";
import type { Verdict } from "../contract/verdict.ts";
import { duration } from "../contract/duration.ts";
import { broke, held, undecided, type Judgement } from "../judgement.ts";
import { withConnections } from "../race.ts";
import type { Rules } from "../rule.ts";
import type { Run } from "../run.ts";
import {
  gaveData,
  obtainRefreshed,
  obtainTokens,
  opens,
  refreshBody,
  refreshes,
  type IssuedTokens,
} from "../steps.ts";
import { headerOf, objectOf, type Answer } from "../world/exchange.ts";
import type { Client, Target } from "../world/target.ts";
import type { World } from "../world/world.ts";
import { refreshLifetimeRules } from "./refresh-lifetime.ts";
import { refreshRefusalRules } from "./refresh-refusals.ts";

/** How one token set is refreshed: by which client, and how often. */
interface Course {
  readonly second: boolean;
  readonly times: number;
}
const courses: fc.Arbitrary<Course> = fc.record({
  second: fc.boolean(),
  times: fc.integer({ min: 1, max: 4 }),
});
const once: Course = { second: false, times: 1 };
const thrice: Course = { second: true, times: 3 };

export const refreshRules = {
  refreshGivesATokenSet: {
    requirement: "refresh.token-set",
    check: (_world, run) =>
      run.forAll(courses, (course, world) => refreshed(world, course, (answer) => judgeTokenSet(answer)), {
        examples: [once, thrice],
        share: 0.5,
      }),
  },

  refreshGivesNoRefreshToken: {
    requirement: "refresh.returns-no-refresh-token",
    check: (_world, run) =>
      run.forAll(
        courses,
        (course, world) =>
          refreshed(world, course, (answer, tokens) => judgeNoRefreshToken(world, answer, tokens)),
        { examples: [once, thrice], share: 0.5 },
      ),
  },

  refreshedTokensWork: {
    requirement: "refresh.access-token-works",
    check: (_world, run) =>
      run.forAll(
        courses,
        async (course, world) => {
          const shown = await totalShown(world, course);
          return refreshed(world, course, (answer) => judgeWorks(world, answer, shown));
        },
        { examples: [once, thrice], share: 0.5 },
      ),
  },

  refreshTokenWorksAgainAndAgain: {
    requirement: "refresh.reusable",
    check: async (world, run) => {
      const parts = [await oneAfterAnother(run), await atOnce(run), await throughItsLife(world, run)];
      return run.all(parts.map((part) => Promise.resolve(part)));
    },
  },

  previousAccessTokenIsWatched: {
    requirement: "refresh.previous-access-token",
    check: (_world, run) =>
      run.observe(async (world) => {
        const tokens = await obtainTokens(world);
        const first = await obtainRefreshed(world, tokens);
        const original = (await opens(world, tokens.accessToken)) ? "accepted" : "refused";
        await obtainRefreshed(world, tokens);
        const refreshedOne = (await opens(world, first.accessToken)) ? "accepted" : "refused";
        return { exchangedTokenAfterARefresh: original, refreshedTokenAfterTheNext: refreshedOne };
      }),
  },

  ...refreshRefusalRules,
  ...refreshLifetimeRules,
} satisfies Rules;

const clientOf = (world: World, course: Course): Client =>
  (course.second ? world.secondClient : undefined) ?? world.client;

/** Refreshes a fresh token set as the course says and judges each answer, up to the first that breaks. */
const refreshed = async (
  world: World,
  course: Course,
  judge: (answer: Answer, tokens: IssuedTokens) => Judgement | Promise<Judgement>,
): Promise<Judgement> => {
  const tokens = await obtainTokens(world, { client: clientOf(world, course) });
  for (let time = 1; time <= course.times; time += 1) {
    const answer = await world.target.refresh(refreshBody(tokens.client, tokens.refreshToken));
    // A later refresh that is refused breaks refresh.reusable; the answers before it have been judged.
    if (time > 1 && credentialsOf(answer).accessToken === undefined) return held;
    const judgement = await judge(answer, tokens);
    if (judgement.kind !== "held") return judgement;
  }
  return held;
};

const judgeTokenSet = (answer: Answer): Judgement => {
  const { accessToken, expiresIn, timestamp } = objectOf(answer);
  if (typeof accessToken !== "string" || accessToken === "")
    return broke("a right refresh answers with accessToken, a string that is not empty", describe(answer));
  if (typeof expiresIn !== "number" || !Number.isFinite(expiresIn) || expiresIn <= 0)
    return broke("a refresh answers with expiresIn, a positive number of seconds", describe(answer));
  return typeof timestamp === "number" && Number.isFinite(timestamp)
    ? held
    : broke("a refresh answers with timestamp, a number", describe(answer));
};

/** Neither under the name refreshToken nor under another one that turns out to work as a refresh token. */
const judgeNoRefreshToken = async (
  world: World,
  answer: Answer,
  { client }: IssuedTokens,
): Promise<Judgement> => {
  const { accessToken, refreshToken } = objectOf(answer);
  if (accessToken === undefined) return undecided(`a right refresh got no access token: ${describe(answer)}`);
  if (refreshToken !== undefined && refreshToken !== null && refreshToken !== "")
    return broke("a refresh answers without a refreshToken", describe(answer));
  const carried = [
    ...textsIn(answer.json),
    ...["refresh-token", "x-refresh-token"].map((name) => headerOf(answer, name)),
  ];
  for (const text of carried)
    if (
      text !== undefined &&
      text !== accessToken &&
      text.length >= 8 &&
      (await refreshes(world, client, text))
    )
      return broke("a refresh brings no refresh token under any name", describe(answer));
  return held;
};

/** Every string in a JSON value. */
const textsIn = (value: unknown): readonly string[] =>
  typeof value === "string"
    ? [value]
    : typeof value === "object" && value !== null
      ? Object.values(value).flatMap(textsIn)
      : [];

/** What a freshly exchanged token of the client is shown of a set that nobody writes to; undefined where nothing is known. */
const totalShown = async (world: World, course: Course): Promise<number | undefined> => {
  const { accessToken } = await obtainTokens(world, { client: clientOf(world, course) });
  return totalIn(await listKnown(world, accessToken));
};

const listKnown = (world: World, accessToken: string): Promise<Answer> => {
  const known = world.notifications.accounts[0];
  return world.target.list({
    accessToken,
    query: { limit: 1, ...(known === undefined ? {} : { accountId: known.accountId }) },
  });
};

const totalIn = (answer: Answer): number | undefined => {
  const total = pageOf(answer)?.total;
  return typeof total === "number" ? total : undefined;
};

const judgeWorks = async (world: World, answer: Answer, shown: number | undefined): Promise<Judgement> => {
  const { accessToken } = credentialsOf(answer);
  if (accessToken === undefined)
    return broke("a refresh brings an accessToken that opens the notification list", describe(answer));
  const listed = await listKnown(world, accessToken);
  if (!gaveData(listed))
    return broke("the accessToken of a refresh opens the notification list", describe(listed));
  // Without a set of its own the list may grow meanwhile; only what it can be compared with is compared.
  if (world.notifications.accounts.length === 0 || shown === undefined || totalIn(listed) === shown)
    return held;
  return broke(
    `the accessToken of a refresh shows the ${shown} notifications that one of an exchange does`,
    describe(listed),
  );
};

const SERIES: Record<Run["effort"], readonly number[]> = {
  quick: [2, 30],
  standard: [2, 11, 60],
  thorough: [2, 11, 60, 300],
};

/** The same refresh token time after time, over one connection and over changing ones, each new access token at work. */
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
          ? refreshNow(world, world.target, tokens, `refresh ${time}`)
          : withConnections(world, 1, ([own]) =>
              refreshNow(world, own ?? world.target, tokens, `refresh ${time}`),
            ));
        if (judgement.kind !== "held") return judgement;
      }
      return held;
    },
    {
      part: "one after another",
      print: ({ times, connection }) => `${times} refreshes, connection: ${connection}`,
    },
  );

/** One refresh that must succeed and bring an access token that works. */
const refreshNow = async (
  world: World,
  target: Pick<Target, "refresh">,
  tokens: IssuedTokens,
  what: string,
): Promise<Judgement> => {
  const expected =
    "the refreshToken works again and again within its life, and each accessToken that it brings works";
  const answer = await target.refresh(refreshBody(tokens.client, tokens.refreshToken));
  const { accessToken } = credentialsOf(answer);
  if (accessToken === undefined) return broke(expected, `${what} was refused: ${describe(answer)}`);
  return (await opens(world, accessToken))
    ? held
    : broke(expected, `the accessToken of ${what} does not open the list`);
};

const ROUNDS_IN_A_LANE = 5;

/**
 * Several refreshes at the same moment. Each must bring a token; not all of those need work,
 * as a refresh may revoke the token before it, but one of them must, and then the next one's.
 */
const atOnce = (run: Run): Promise<Verdict> =>
  run.forEach(
    Array.from({ length: run.cases(0.32, 2) }, (_, lane) => 2 + (lane % 3)),
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
            return broke(
              `each of ${contenders} refreshes at the same time yields an accessToken`,
              `one was refused: ${describe(refused)}`,
            );
          const opened = await Promise.all(
            answers.map((answer) => opens(world, credentialsOf(answer).accessToken ?? "")),
          );
          if (!opened.includes(true))
            return broke(
              `of ${contenders} refreshes at the same time at least the last brings an accessToken that works`,
              "none of their accessTokens opens the list",
            );
          const after = await refreshNow(
            world,
            world.target,
            tokens,
            `the refresh after ${contenders} at once`,
          );
          if (after.kind !== "held") return after;
        }
        return held;
      }),
    { part: "at once", print: (contenders) => `${contenders} refreshes at the same time` },
  );

/** One refresh token at several ages, the last of them right before its 30 days are over. */
const throughItsLife = async (world: World, run: Run): Promise<Verdict> => {
  const lifetimeMs = world.limits.refreshTokenLifetimeMs;
  if (!world.clock.canWait(lifetimeMs))
    return {
      kind: "could-not-run",
      missing: "clock.advance",
      reason: `its last refreshes come after up to ${duration(lifetimeMs)}; add \`hooks.clock.advance\` to the profile, or raise --max-wait`,
    };
  const lastMs = lifetimeMs - Math.min(world.tolerances.lifetimeGuardMs, lifetimeMs / 4) - ROOM_MS;
  return run.forEach(
    lives(run, lastMs),
    async (agesMs, caseWorld) => {
      const tokens = await obtainTokens(caseWorld);
      let ageMs = 0;
      for (const nextMs of agesMs) {
        if (nextMs > ageMs) await caseWorld.clock.sleep(nextMs - ageMs);
        ageMs = Math.max(ageMs, nextMs);
        const judgement = await refreshNow(
          caseWorld,
          caseWorld.target,
          tokens,
          `the refresh at an age of ${duration(ageMs)}`,
        );
        if (judgement.kind !== "held") return judgement;
      }
      return held;
    },
    {
      part: "late in its life",
      together: true,
      replays: world.clock.kind === "virtual" ? 2 : 0,
      print: (agesMs) => `refreshed at ${agesMs.map(duration).join(", ")}`,
    },
  );
};

/** Sleeps overshoot a little, and several do so in a row; the very end is refresh.lifetime's. */
const ROOM_MS = 3_000;
const MINUTE_MS = 60_000;

/** Ages to refresh at: at once and at the end, steps on the way that a cache or a grace period might have, and any others. */
const lives = (run: Run, lastMs: number): readonly (readonly number[])[] => {
  const fixed = [
    0,
    2_000,
    MINUTE_MS + 1_000,
    11 * MINUTE_MS,
    61 * MINUTE_MS,
    25 * 60 * MINUTE_MS,
    8 * 1_440 * MINUTE_MS,
  ];
  const generated = fc.sample(
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 5 }),
    { seed: run.seed, numRuns: run.cases(0.12) },
  );
  return [
    [0, lastMs],
    [...fixed.filter((ageMs) => ageMs < lastMs), lastMs],
    ...generated.map((shares) => [
      ...shares.map((share) => share * share * lastMs).toSorted((a, b) => a - b),
      lastMs,
    ]),
  ];
};
