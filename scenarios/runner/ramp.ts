import { given } from "../../conformance/contract/given.ts";
import type { Breakpoint, LoadRecord, ObjectiveResult } from "../../conformance/contract/load-record.ts";
import { latenciesOf } from "../../conformance/contract/distribution.ts";
import { askedRateAt, stagesOf } from "../stages.ts";
import { requestsIn } from "../../conformance/contract/second-counts.ts";
import type { Profile } from "../../conformance/contract/profile.ts";
import { countedMs } from "./collect/histograms.ts";
import type { ClosedSecond } from "./collect/seconds.ts";
import type { LoadPlan } from "./context.ts";
import { judgeObjectives, type EndpointMeasure, type Measures } from "./judge/objectives.ts";

/**
 * Objectives are judged over the last five seconds: fewer hold too few requests for a percentile, and in more of them
 * the ramp goes on too far. One of them may be a hiccup, which is no limit: an objective gives way if it is missed
 * whichever second is left out.
 */
export const windowSeconds = 5;

/** Why the collector ends a ramp; not a fault, unlike all other reasons. */
export const rampEnded = "the ramp found its end";

type Achieved = NonNullable<LoadRecord["achieved"]>;

export interface Ramp {
  readonly found: Breakpoint;
  /** As measured where all of them held for the last time, or at the end if they never did. */
  readonly objectives: readonly ObjectiveResult[];
  /** What says whether the load generator kept up, from the last window alone. */
  readonly atEnd: Pick<Achieved, "lag" | "machineIdle" | "k6Cores">;
}

type Watched = Pick<ClosedSecond, "line"> & {
  readonly measures: Measures["measures"];
  readonly lag: Achieved["lag"];
};

const noted = ({ line, histograms, lag }: ClosedSecond): Watched => ({
  line,
  measures: Object.fromEntries(
    Object.entries(line.requests).map(([endpoint, counts]) => [
      endpoint,
      {
        ...counts,
        seconds: histograms
          .filter((one) => one.endpoint === endpoint && one.outcome === "granted" && one.kind === "response")
          .map(({ histogram }) => countedMs(histogram)),
      },
    ]),
  ),
  lag: lag && latenciesOf(lag),
});

const together = (measures: readonly EndpointMeasure[]): EndpointMeasure => ({
  seconds: measures.flatMap(({ seconds }) => seconds),
  granted: measures.reduce((sum, { granted }) => sum + granted, 0),
  refused: measures.reduce((sum, { refused }) => sum + refused, 0),
  failed: measures.reduce((sum, { failed }) => sum + failed, 0),
});

export type RampWatch = ReturnType<typeof createRampWatch>;

/**
 * Watches the objectives while a ramp goes on. `add` takes each second, and returns why the ramp has to end: an
 * objective gave way, or iterations were dropped, from where on the load is not what was asked for.
 */
export const createRampWatch = (
  profile: Pick<Profile, "slos">,
  { rate, durationMs, warmUpMs, seed }: Pick<LoadPlan, "rate" | "durationMs" | "warmUpMs" | "seed">,
) => {
  const stages = stagesOf("breakpoint", rate, durationMs);
  const endpoints = new Set<string>();
  let window: readonly Watched[] = [];
  let objectives: readonly ObjectiveResult[] = [];
  let found: Breakpoint = { heldTo: 0, endedAt: 0 };
  let hasEnded = false;

  // A ramp begins at a rate of zero, so that a least throughput says nothing about it.
  const judge = (seconds: readonly Watched[]): readonly ObjectiveResult[] => {
    const measures = [...endpoints].map((endpoint) => {
      const own = seconds.flatMap((second) => second.measures[endpoint] ?? []);
      return [endpoint, together(own)] as const;
    });
    const measured = { measures: Object.fromEntries(measures), measuredSeconds: seconds.length, seed };
    return judgeObjectives(profile, measured).filter(({ bound }) => bound === "at most");
  };
  const isCalled = ({ name }: ObjectiveResult): boolean => endpoints.has(name.split(" ")[0] ?? "");
  const missed = (judged: readonly ObjectiveResult[]) =>
    judged.filter(({ verdict }) => verdict === "breached");
  const isMissedAnyway = ({ name }: ObjectiveResult): boolean =>
    window.every((_, at) => missed(judge(window.toSpliced(at, 1))).some((one) => one.name === name));

  return {
    add: (second: ClosedSecond): string | undefined => {
      const { line } = second;
      if (hasEnded || line.asked === 0 || line.second * 1_000 < warmUpMs) return undefined;
      for (const endpoint of Object.keys(line.requests)) endpoints.add(endpoint);
      window = [...window, noted(second)].slice(-windowSeconds);
      const endedAt = askedRateAt(stages, Math.min(durationMs - 1, (line.second + 1) * 1_000));
      found = { ...found, endedAt };
      const judged = judge(window);
      const isWhole = window.length === windowSeconds;
      // Nothing is missed while nothing is answered.
      const isAnswered = requestsIn([line]).granted > 0 || line.asked < 1;
      if (isWhole && isAnswered && judged.filter(isCalled).every(({ verdict }) => verdict === "held")) {
        found = { heldTo: endedAt, endedAt };
        objectives = judged;
      } else if (found.heldTo === 0) objectives = judged;
      const isDropped = line.dropped > 0 || line.unsent !== undefined;
      // Where dropped iterations or requests end the ramp, no more seconds can tell a hiccup from a limit.
      const gaveWay = missed(judged).find((one) => isDropped || (isWhole && isMissedAnyway(one)));
      hasEnded = isDropped || gaveWay !== undefined;
      if (gaveWay !== undefined) found = { ...found, gaveWay };
      return hasEnded ? rampEnded : undefined;
    },
    ramp: (): Ramp => ({ found, objectives, atEnd: atEnd(window) }),
  };
};

const atEnd = (window: readonly Watched[]): Ramp["atEnd"] => {
  const mean = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : known.reduce((sum, value) => sum + value, 0) / known.length;
  };
  const machineIdle = mean(window.map(({ line }) => line.machineIdle));
  const k6Cores = mean(window.map(({ line }) => line.k6?.cores));
  // The second latest, because one may be a hiccup here as well.
  const lag = window
    .flatMap((second) => second.lag ?? [])
    .toSorted((a, b) => b.p99Ms - a.p99Ms)
    .at(1);
  return given({ lag, machineIdle, k6Cores });
};
