import {
  alive,
  refreshTokens,
  refreshTokensInUse,
  refreshTokensOfExpired,
  refreshTokensReplaced,
  untilRefused,
  refreshWrongly,
} from "./refresh-credentials.ts";
import type { Verdict } from "../contract/verdict.ts";
import { credentialsOf, describe, grantOf } from "../world/exchange.ts";
import { duration, HOUR_MS } from "../contract/duration.ts";
import { fail, pass, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { judgeCrowd, judgeLifetime, onDates, roomAfter } from "../lifetimes/lifetime.ts";
import { exchangedLate } from "../lifetimes/play.ts";
import type { Rules, WaitFacts } from "../checks/rule.ts";
import {
  exchangeBody,
  obtainTokens,
  opens,
  refreshBody,
  sleepSince,
  timed,
  type IssuedTokens,
} from "../world/steps.ts";
import type { Client } from "../world/target.ts";
import type { World } from "../world/world.ts";

/** A service may check a token at every use, or at every nth use. */
const MANY_USES = 12;

/** Time for probes past the end, including guards. */
const pastTheEnd = ({ limits, tolerances }: WaitFacts): number =>
  limits.refreshTokenLifetimeMs * 1.1 + limits.codeLifetimeMs + roomAfter({ tolerances });

/** When codes that are exchanged late are: tokens that are issued at one moment end at one, in fewer moves of the clock. */
const withLateExchanges = ({ limits }: World) => ({ begin: limits.codeLifetimeMs / 2 });

export const refreshLifetimeRules = {
  "refresh.lifetime": {
    deferred: [refreshTokens],
    waitsMs: pastTheEnd,
    waits: (world, run) =>
      run.all([
        judgeLifetime(world, run, { ...refreshTokens, begins: withLateExchanges(world) }),
        judgeLifetime(world, run, {
          name: "refreshToken of a code that was exchanged late",
          lifetimeMs: refreshTokens.lifetimeMs,
          // The 30 days begin with the token, not with the code.
          stages: exchangedLate(world),
          ...untilRefused,
          perSide: run.cases(0.12, 1),
        }),
        ...judgeCrowd(world, run, {
          ...refreshTokens,
          begins: withLateExchanges(world),
        }),
        ...onDates(world, ["March", "October"], 0).map(({ when, begins }) =>
          judgeLifetime(world, run, {
            ...refreshTokens,
            name: `refreshToken issued in ${when}`,
            begins,
            perSide: 1,
          }),
        ),
      ]),
  },

  "refresh.lifetime-is-from-issue": {
    deferred: [refreshTokensInUse],
    waitsMs: pastTheEnd,
    waits: (world, run) =>
      run.all([
        judgeLifetime(world, run, {
          ...refreshTokensInUse,
          begins: withLateExchanges(world),
          perSide: run.cases(0.16, 2),
        }),
        judgeLifetime(world, run, {
          ...refreshTokens,
          name: "refreshToken in frequent use",
          begins: withLateExchanges(world),
          use: async (one, { client, refreshToken }) => {
            await one.target.refresh(refreshBody(client, refreshToken));
          },
          uses: MANY_USES,
          sides: "dead",
          perSide: 1,
        }),
        judgeLifetime(world, run, {
          name: "refreshToken after refused refreshes",
          begins: withLateExchanges(world),
          lifetimeMs: refreshTokens.lifetimeMs,
          issue: (one) => obtainTokens(one),
          use: refreshWrongly,
          // The first attempt may be what brings it back to life.
          alive: async (one, tokens) => (await alive(one, tokens)) || alive(one, tokens),
          sides: "dead",
          perSide: 1,
        }),
      ]),
  },

  "refresh.after-access-expiry": {
    deferred: [refreshTokensOfExpired],
    waitsMs: ({ accessLifetimeMs, tolerances }) => accessLifetimeMs + roomAfter({ tolerances }),
    waits: async (world, run): Promise<Verdict> => {
      const {
        prepared: { accessLifetimeMs },
        limits,
      } = world;
      if (accessLifetimeMs + 2 * world.tolerances.lifetimeGuardMs >= limits.refreshTokenLifetimeMs)
        return {
          kind: "not-applicable",
          by: "service",
          reason: `an accessToken lives for ${duration(accessLifetimeMs)}, as long as the refreshToken or longer, so it never expires first`,
        };
      return run.forEach(afterExpiry(world, run.cases(0.16, 3)), refreshAfterExpiry, {
        together: true,
        replays: world.clock.kind === "virtual" ? 2 : 0,
        print: (laterMs) =>
          `the refreshes come ${laterMs.map(duration).join(", then ")} after the accessToken expired`,
      });
    },
  },

  "refresh.reauthorize": {
    deferred: [refreshTokensReplaced],
    waitsMs: pastTheEnd,
    waits: (world, run) =>
      run.forEach(
        world.clock.kind === "virtual" ? [0, world.limits.refreshTokenLifetimeMs] : [0],
        reauthorizeAfter,
        {
          together: true,
          replays: world.clock.kind === "virtual" ? 2 : 0,
          print: (laterMs) => `${duration(laterMs)} after the refreshToken expired`,
        },
      ),
  },
} satisfies Rules;

/** For each case, how long after each expiry of an access token the next refresh comes, in milliseconds. */
const afterExpiry = (world: World, cases: number): readonly (readonly number[])[] => {
  if (world.clock.kind === "real") return [[0]];
  const roomMs = world.limits.refreshTokenLifetimeMs - world.prepared.accessLifetimeMs;
  const series = [[0], [Math.min(86_400_000, roomMs / 2)], [0, 60_000, 3_600_000]];
  return Array.from({ length: cases }, (_, index) => series[index] ?? [(roomMs * (index - 2)) / (cases + 1)]);
};

/** Lets one access token after another expire, sees it refused, and refreshes; each refresh must return one that works. */
const refreshAfterExpiry = async (laterMs: readonly number[], world: World): Promise<CaseVerdict> => {
  const guardMs = world.tolerances.lifetimeGuardMs;
  const { value: tokens, at } = await timed(world, () => obtainTokens(world));
  const endMs = at.earliestMs + world.limits.refreshTokenLifetimeMs - 2 * guardMs;
  let { accessToken, expiresInMs } = tokens;
  for (const [index, later] of laterMs.entries()) {
    const waitMs = expiresInMs + guardMs + later;
    const now = await world.clock.now();
    if (!(waitMs > 0) || now.latestMs + waitMs >= endMs)
      return index > 0
        ? pass
        : inconclusive(
            `expiresIn is ${duration(expiresInMs)}, which leaves no time for a refresh afterwards`,
          );
    await world.clock.sleep(
      waitMs,
      Math.min(Math.max(waitMs / 4, 5 * later), (endMs - now.latestMs - waitMs) / 2),
    );
    // A token that outlives its expiresIn breaks access.lifetime; this rule can be judged anyway.
    await opens(world, accessToken);
    const answer = await world.target.refresh(refreshBody(tokens.client, tokens.refreshToken));
    const next = credentialsOf(answer);
    if (next.accessToken === undefined)
      return fail("a refresh works once the accessToken has expired", `refused: ${describe(answer)}`);
    if (!(await opens(world, next.accessToken)))
      return fail(
        "a refresh after the accessToken's expiry returns one that works",
        "the accessToken that it returned does not open the list",
      );
    accessToken = next.accessToken;
    expiresInMs = Number(next.expiresIn) * 1_000;
  }
  return pass;
};

/** Lets a refresh token expire, sees it refused, and runs the flow again: that works, and the old token stays dead. */
const reauthorizeAfter = async (laterMs: number, world: World): Promise<CaseVerdict> => {
  const { value: old, at } = await timed(world, () => obtainTokens(world));
  await sleepSince(
    world,
    at,
    world.limits.refreshTokenLifetimeMs + world.tolerances.lifetimeGuardMs + laterMs,
    Math.min(6 * HOUR_MS, world.limits.refreshTokenLifetimeMs / 100),
  );
  if (await alive(world, old))
    return inconclusive(
      "the refreshToken works beyond its 30 days (refresh.lifetime), so authorizing again was never necessary",
    );
  const expected =
    "once the refreshToken is invalid, authorizing and exchanging again yields tokens that work";
  const anew = await flowAnew(world, old.client);
  if (typeof anew === "string") return fail(expected, anew);
  if (!(await opens(world, anew.accessToken)))
    return fail(expected, "the new accessToken does not open the list");
  if (!(await alive(world, anew)))
    return fail(expected, "the new refreshToken yields no working accessToken");
  return (await alive(world, old))
    ? fail("a refreshToken that has become invalid stays invalid", "the new authorization made it work again")
    : pass;
};

/** The tokens of a new run of the flow, or a sentence about where it failed. */
const flowAnew = async (
  world: World,
  client: Client,
): Promise<Pick<IssuedTokens, "client" | "accessToken" | "refreshToken"> | string> => {
  const authorized = await world.target.authorize({ client });
  const grant = grantOf(authorized);
  if (grant === undefined) return `the authorization got no code: ${describe(authorized)}`;
  const exchanged = await world.target.exchange(exchangeBody(client, grant.code));
  const { accessToken, refreshToken } = credentialsOf(exchanged);
  return accessToken === undefined || refreshToken === undefined
    ? `the exchange got no tokens: ${describe(exchanged)}`
    : { client, accessToken, refreshToken };
};
