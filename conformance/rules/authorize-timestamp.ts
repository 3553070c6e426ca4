import { ageBetween, type TimeInterval } from "../judging/interval.ts";
import { describe, type Answer } from "../world/exchange.ts";
import type { Verdict } from "../contract/verdict.ts";
import { duration, SECOND_MS } from "../contract/duration.ts";
import { fail, pass } from "../judging/case-verdict.ts";
import type { HistoryVerdict, Rule, Run } from "../checks/rule.ts";
import { obtainCode, timed } from "../world/steps.ts";
import { clientsOf, type World } from "../world/world.ts";
import { timestampOf, toldTimes } from "./told-time.ts";

/** Milliseconds in 32 bits, with or without a sign, start over after this time. */
const WRAP_MS = 2 ** 32;
/** Real seconds are expensive and virtual ones are free, so a virtual clock is watched for longer. */
const pausesMs = { real: [3_000], virtual: [7_000, 100_000, 93_600_000, WRAP_MS] } as const;
/** The clocks of a service's machines may differ by about a second, and its clock and ours may drift. */
const APART_MS = 1_050;
const LOOKS = 6;

const ticksPerSecond = { seconds: 1, milliseconds: 1e3, microseconds: 1e6, nanoseconds: 1e9 } as const;
type Unit = keyof typeof ticksPerSecond;

interface Look {
  readonly timestamp: number;
  readonly at: TimeInterval;
}

/** The timestamp of authorize answers (section 4.1). */
export const timestampFollowsTheClock = {
  waitsMs: () => pausesMs.real[0],
  check: async (world: World, run: Run): Promise<Verdict> => {
    let isBareRedirect = false;
    const moves = run.once(
      async (world) => {
        const { answer, grant } = await obtainCode(world);
        isBareRedirect = grant.via === "redirect" && timestampOf(answer) === undefined;
        return isBareRedirect ? pass : judgeTimestamps(world);
      },
      { replays: 1 },
    );
    const told = toldTimes(run, "authorize", clientsOf(world), {
      part: "beside other timestamps",
      print: ({ id }) => `client ${id}`,
    });
    const verdict = await run.all([moves, told]);
    if (!isBareRedirect) return verdict;
    return {
      kind: "not-applicable",
      by: "service",
      reason: "the service answers with a redirect, and the redirect carries no timestamp",
    };
  },
} satisfies Omit<Rule, "requirement">;

/** On one connection, since several are answered by different machines more often than one. */
const judgeTimestamps = async (world: World): Promise<HistoryVerdict> => {
  const target = world.target.dedicated();
  try {
    return judgeLooks(await looksAt({ ...world, target }));
  } finally {
    await target.close();
  }
};

/** Looks at the timestamp some times in a row, and again after each pause. */
const looksAt = async (world: World): Promise<readonly Look[] | Answer> => {
  const looks: Look[] = [];
  for (const pauseMs of [0, ...pausesMs[world.clock.kind]]) {
    if (pauseMs > 0) await world.clock.sleep(pauseMs, pauseMs);
    for (let n = 0; n < LOOKS; n += 1) {
      const { value, at } = await timed(world, () => obtainCode(world));
      const timestamp = timestampOf(value.answer);
      if (timestamp === undefined) return value.answer;
      looks.push({ timestamp, at });
    }
  }
  return looks;
};

/** Judges the looks in the order in which they were made, or the answer that carried no timestamp. */
export const judgeLooks = (looks: readonly Look[] | Answer): HistoryVerdict => {
  if ("status" in looks) return fail("the answer carries a numeric timestamp", describe(looks));
  const backwards = pairs(looks).find(([before, after]) => after.timestamp < before.timestamp);
  const left = (Object.keys(ticksPerSecond) as Unit[]).filter((unit) =>
    areInStep(looks, ticksPerSecond[unit]),
  );
  // A balancer may spread the requests of one connection over machines whose clocks differ a little.
  if (left.length > 0)
    return {
      ...pass,
      cases: looks.length,
      facts: { readings: left, ...(backwards === undefined ? {} : { stepsBack: stepText(backwards) }) },
    };
  return {
    ...(backwards === undefined
      ? fail(
          "timestamps move with the clock, in seconds, milliseconds, microseconds or nanoseconds",
          steps(looks)
            .map(([elapsedMs, moved]) => `while ${duration(elapsedMs)} passed they moved by ${moved}`)
            .join("; "),
        )
      : fail("no later answer carries an earlier time", stepText(backwards))),
    cases: looks.length,
    facts: { readings: left },
  };
};

const stepText = ([before, after]: readonly [Look, Look]): string =>
  `${before.timestamp} was followed by ${after.timestamp}`;

/** Whether timestamps that count so many ticks per second differ from the first by the time that passed since. */
const areInStep = (looks: readonly Look[], perSecond: number): boolean => {
  const isWhole = looks.every(({ timestamp }) => timestamp % perSecond === 0);
  // Whole seconds may cost a second more than the clocks are apart, whichever way they round.
  const toleranceMs = APART_MS + (isWhole ? SECOND_MS : 0);
  return looks.every((later) => {
    const first = looks[0] ?? later;
    const movedMs = ((later.timestamp - first.timestamp) / perSecond) * SECOND_MS;
    const { leastMs, greatestMs } = ageBetween(first.at, later.at);
    return movedMs >= leastMs - toleranceMs && movedMs <= greatestMs + toleranceMs;
  });
};

const steps = (looks: readonly Look[]): readonly (readonly [elapsedMs: number, moved: number])[] =>
  pairs(looks.filter((_, index) => index % LOOKS === 0)).map(([before, after]) => [
    ageBetween(before.at, after.at).leastMs,
    after.timestamp - before.timestamp,
  ]);

const pairs = <T>(values: readonly T[]): readonly (readonly [T, T])[] =>
  values.slice(1).map((value, index) => [values[index] ?? value, value] as const);
