import fc from "fast-check";
import { validStates } from "../arbitraries/state.ts";
import { attemptKinds, attemptWrongly, type AttemptKind } from "./shared/attempts.ts";
import { observing, type ExpiringCredential, type Rules, type WaitFacts, type Run } from "../checks/rule.ts";
import { judgeCrowd, judgeLifetime, onDates, roomAfter } from "../lifetimes/lifetime.ts";
import { withConnections } from "./shared/many.ts";
import { pauses, printEvents, reuseIsRefused, SHORT_PAUSE_MS, usedUpHistories } from "./code-reuse.ts";
import { mapLimited } from "../checks/map-limited.ts";
import { freshCodeWorks } from "../world/controls.ts";
import { describe, grantOf } from "../world/exchange.ts";
import { expectThat, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import {
  answerOrRefusal,
  exchangeable,
  obtainCode,
  obtainRefreshed,
  obtainTokens,
  opens,
  present,
  refreshes,
  yielded,
  type IssuedCode,
} from "../world/steps.ts";
import type { World } from "../world/world.ts";
import {
  disturbances,
  oldestOfManyWorks,
  othersGoOnWorking,
  othersOutliveExpired,
  pairsOf,
  printFates,
  tellingFates,
} from "./code-independence.ts";
import { raceInLane, type Met } from "./code-race.ts";
import type { Verdict } from "../contract/verdict.ts";

/** Time for probes after the end of a lifetime, including guards. */
const pastTheCode = ({ limits, tolerances }: WaitFacts): number =>
  limits.codeLifetimeMs * 1.1 + roomAfter({ tolerances });

type Code = Pick<IssuedCode, "client" | "code">;

/** What a code was issued for may change how long it lives. The second client gets each way on one side. */
const WAYS = ["for a short state", "for a state of the greatest length"] as const;
const LONGEST = 1;

/** An exchange uses up a code. */
const codes: ExpiringCredential<Code> = {
  name: "code",
  lifetimeMs: ({ limits }) => limits.codeLifetimeMs,
  issue: async (world, way) => {
    const state = world.target.unique().padEnd(way === LONGEST ? world.limits.stateMaxBytes : 0, "aZ09");
    const { client, code } = await obtainCode(world, { authorize: { state } });
    return { client, code };
  },
  alive: exchangeable,
  control: freshCodeWorks,
  isUsedUp: true,
};

/** Codes for states of any length, the shortest included; for another state if a service accepts each only once. */
const codesOfAnyState = ({ limits }: World, seed: number): ExpiringCredential<Code>["issue"] => {
  const states = fc.sample(validStates(limits.stateMaxBytes), { seed });
  return async (world, nth) => {
    const { client, target } = world;
    const state = nth === 0 ? "Z" : (states[nth] ?? world.target.unique());
    const answer = await answerOrRefusal(() => target.authorize({ state }));
    const code = answer === undefined ? undefined : grantOf(answer)?.code;
    return { client, code: code ?? (await obtainCode(world)).code };
  };
};

/** Sections 2.1 and 3.1: the life of an authorization code. */
export const codeRules = {
  "code.single-use": {
    waitsMs: () => SHORT_PAUSE_MS,
    check: (world, run) =>
      run.forEach(usedUpHistories(world), reuseIsRefused, { part: "later attempts", print: printEvents }),
    waits: (world, run) =>
      run.forEach(
        pauses(world, run),
        async (pauseMs, caseWorld) => {
          // Then it ends with the codes of other rules.
          await caseWorld.clock.beginSecond(undefined, true);
          return reuseIsRefused([{ pauseMs }, "again"], caseWorld);
        },
        {
          part: "after a pause",
          together: true,
          print: (pauseMs) => printEvents([{ pauseMs }, "again"]),
        },
      ),
  },

  "code.single-use-under-race": (_world, run) => {
    const lanes = Array.from({ length: run.cases(0.32, 4) }, (_, lane) => lane);
    const met: Met = { rounds: 0, unanswered: 0, roundsWithoutWinner: 0 };
    return run.forEach(
      lanes,
      (lane, world) => withConnections(world, 3, (connections) => raceInLane(world, connections, lane, met)),
      {
        replays: 6,
        print: (lane) => `series ${lane + 1} of concurrent exchanges`,
        facts: () => ({ ...met }),
      },
    );
  },

  "code.lifetime": {
    deferred: [codes],
    waitsMs: pastTheCode,
    waits: (world, run) =>
      run.all([
        judgeLifetime(world, run, { ...codes, ways: WAYS }),
        judgeLifetime(world, run, {
          ...codes,
          name: "code of a busy client",
          use: keepBusy,
          perSide: 2,
        }),
        ...judgeCrowd(world, run, { ...codes, issue: codesOfAnyState(world, run.seed) }),
        ...onDates(world, ["a month ends", "clocks go forward"], world.limits.codeLifetimeMs / 2).map(
          ({ when, begins }) =>
            judgeLifetime(world, run, { ...codes, name: `code issued before ${when}`, begins, perSide: 1 }),
        ),
      ]),
  },

  "code.lifetime-is-not-extended": {
    waitsMs: pastTheCode,
    waits: (world, run) =>
      run.all(
        attemptKinds(world).map((kind) =>
          judgeLifetime(world, run, {
            ...codes,
            name: `code after ${kind}`,
            use: async (caseWorld, issued) => void (await attemptWrongly(caseWorld, kind, issued)),
            alive: twiceExchangeable,
            sides: "dead",
            perSide: run.cases(0.08, 2),
          }),
        ),
      ),
  },

  "code.independence": {
    waitsMs: pastTheCode,
    check: (world, run) =>
      (world.prepared.isFar ? allTogether : inTurn)(run, [
        // One after another, so that a breach is not blamed on the wrong disturbance; concurrently at a distant target,
        // where this would take a minute.
        ...disturbances(world).map(
          (fate) => () =>
            run.forEach(tellingFates(world, fate), othersGoOnWorking, {
              part: fate,
              clients: "first",
              print: printFates,
              narrower: pairsOf,
            }),
        ),
        () => run.once(oldestOfManyWorks, { part: "many of one client" }),
      ]),
    waits: (_world, run) =>
      run.forEach([true, false], othersOutliveExpired, {
        part: "expired",
        together: true,
        print: (same) => (same ? "all with the same state" : "each with another state"),
      }),
  },

  "code.failed-attempt": observing([], async (world) =>
    Object.fromEntries(
      await mapLimited(attemptKinds(world), 3, async (kind) => [kind, await fateAfter(world, kind)]),
    ),
  ),

  "code.reuse-revokes-tokens": (_world, run) =>
    run.forEach(
      Array.from({ length: run.cases(0.3, 3) }, (_, at) => at % 2 === 0),
      tokensDieWithReuse,
      {
        print: (refreshed) => (refreshed ? "tokens that had been refreshed" : "tokens as they came"),
      },
    ),
} satisfies Rules;

/** Whether the first attempt yields tokens, or the second, since the first may bring the code back to life. */
const twiceExchangeable = async (world: World, issued: Code): Promise<boolean> =>
  (await exchangeable(world, issued)) || exchangeable(world, issued);

/** What a client does while one of its codes waits: gets other codes, uses them, refreshes and reads. */
const keepBusy = async (world: World, issued: Code): Promise<void> => {
  await obtainCode(world, { client: issued.client });
  const tokens = await obtainTokens(world, { client: issued.client });
  await obtainRefreshed(world, tokens);
};

/** Judges parts one after another, because while one sleeps, time may pass for the credentials of another. */
const inTurn = async (run: Run, parts: readonly (() => Promise<Verdict>)[]): Promise<Verdict> =>
  run.all(await Array.fromAsync(parts, (part) => part()));

/** Judges parts concurrently. */
const allTogether = (run: Run, parts: readonly (() => Promise<Verdict>)[]): Promise<Verdict> =>
  run.all(parts.map((part) => part()));

const fateAfter = async (world: World, kind: AttemptKind): Promise<string> => {
  const issued = await obtainCode(world);
  const attempt = await attemptWrongly(world, kind, issued);
  if ((await yielded(world, attempt, issued.client)) !== undefined) return "the attempt was granted";
  return (await exchangeable(world, issued)) ? "still works" : "used up";
};

const tokensDieWithReuse = async (refreshed: boolean, world: World): Promise<CaseVerdict> => {
  const bystander = await obtainTokens(world);
  const tokens = await obtainTokens(world);
  if (!(await opens(world, tokens.accessToken)))
    return inconclusive("the tokens did not work before the reuse");
  const latest = refreshed ? await obtainRefreshed(world, tokens) : tokens;
  const again = await present(world, tokens.client, tokens.code);
  if (!(await opens(world, bystander.accessToken)))
    return inconclusive("the tokens of another code stopped working too");
  const alive = (await opens(world, latest.accessToken))
    ? "access token"
    : (await refreshes(world, tokens.client, tokens.refreshToken))
      ? "refresh token"
      : undefined;
  return expectThat(
    alive === undefined,
    "the tokens of a code are revoked once the code is presented again",
    `its ${alive} still worked after the second exchange, which got ${again === undefined ? "no answer" : describe(again)}`,
  );
};
