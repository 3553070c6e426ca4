import type { ObjectiveResult } from "../../../conformance/contract/load-record.ts";
import type { Profile } from "../../../conformance/contract/profile.ts";
import {
  drawnIntervals,
  mergeCounted,
  quantileOf,
  type Counted,
  type Interval,
} from "../../../conformance/contract/distribution.ts";
import { seededRandom, type Random } from "../../../conformance/contract/random.ts";
import { inGroups } from "../../../conformance/contract/text.ts";
import { endpointNames, type Endpoint } from "../../../conformance/contract/forms.ts";

type Objectives = NonNullable<Profile["slos"]>;
type Wanted = NonNullable<NonNullable<Objectives["endpoints"]>[Endpoint]>;

/** Default objectives for every endpoint. */
export const usualObjectives: Wanted = { p95Ms: 500, p99Ms: 1_000, errorShare: 0.01 };
/** Default objectives for the delay from an event to its first push. */
export const usualPushObjectives: NonNullable<Objectives["push"]> = { p95Ms: 5_000 };

/** Measurements of one endpoint, without the warm-up. */
export interface EndpointMeasure {
  /** Response times of granted requests, one distribution per second. */
  readonly seconds: readonly Counted[];
  readonly granted: number;
  readonly refused: number;
  readonly failed: number;
}

export interface Measures {
  /** By endpoint. */
  readonly measures: Readonly<Partial<Record<string, EndpointMeasure>>>;
  readonly measuredSeconds: number;
  /** Delays of first pushes, one distribution per second of their events. */
  readonly pushDelays?: readonly Counted[];
  readonly seed: number;
}

/**
 * Judges the objectives from the histograms. Percentiles cover granted requests only, counted from their scheduled
 * start; failures only affect the error share. An endpoint that the scenario never calls has no objective; if the
 * profile names one that the scenario does not call, it was not measured, which is not a success.
 */
export const judgeObjectives = (
  profile: Pick<Profile, "slos">,
  measured: Measures,
): readonly ObjectiveResult[] => [
  ...endpointNames.flatMap((endpoint) => {
    const asked = profile.slos?.endpoints?.[endpoint] ?? {};
    const measure = measured.measures[endpoint];
    if (measure !== undefined)
      return judgeEndpoint(endpoint, { ...usualObjectives, ...asked }, measure, measured);
    const keys = Object.keys(asked);
    const bound = {
      name: `${endpoint} (${keys.join(", ")})`,
      limit: 0,
      unit: "ms",
      bound: "at most",
    } as const;
    const reason = "this scenario does not call the endpoint";
    return keys.length === 0 ? [] : [{ ...bound, verdict: "not measured", reason } as const];
  }),
  ...judgePushes(profile.slos?.push, measured),
];

const named = { p50Ms: 50, p90Ms: 90, p95Ms: 95, p99Ms: 99, p999Ms: 99.9 } as const;

type Percentiles = { readonly [Key in keyof typeof named]?: number } & {
  readonly percentilesMs?: Readonly<Record<string, number>>;
};

const wantedPercentiles = (wanted: Percentiles): readonly (readonly [percent: number, limitMs: number])[] =>
  [
    ...Object.entries(named).flatMap(([key, percent]) => {
      const limit = wanted[key as keyof typeof named];
      return limit === undefined ? [] : [[percent, limit] as const];
    }),
    ...Object.entries(wanted.percentilesMs ?? {}).map(
      ([percent, limit]) => [Number(percent), limit] as const,
    ),
  ].toSorted(([a], [b]) => a - b);

type Bound = Pick<ObjectiveResult, "name" | "unit" | "bound">;
type Measured = Pick<ObjectiveResult, "measured" | "interval">;

const judgeEndpoint = (
  endpoint: string,
  wanted: Wanted,
  { seconds, granted, refused, failed }: EndpointMeasure,
  { measuredSeconds, seed }: Measures,
): readonly ObjectiveResult[] => {
  const all = granted + refused + failed;
  const errors: Bound = { name: `${endpoint} errors`, unit: "share", bound: "at most" };
  const throughput: Bound = { name: `${endpoint} throughput`, unit: "per second", bound: "at least" };
  return [
    ...latencyObjectives(endpoint, wanted, seconds, seed),
    ...judged(
      errors,
      wanted.errorShare,
      all === 0 ? {} : { measured: failed / all, interval: shareInterval(failed, all) },
      (limit) => tooFewToShow(failed, all, limit, `${Number((limit * 100).toPrecision(3))} %`),
    ),
    ...judged(
      throughput,
      wanted.minPerSecond,
      measuredSeconds === 0 ? {} : { measured: (granted + refused) / measuredSeconds },
    ),
  ];
};

const latencyObjectives = (
  name: string,
  wanted: Percentiles,
  seconds: readonly Counted[],
  seed: number,
): readonly ObjectiveResult[] => {
  const whole = mergeCounted(seconds);
  return wantedPercentiles(wanted).flatMap(([percent, limit]) => {
    const share = percent / 100;
    const interval = quantileInterval(seconds, share, seededRandom(seed));
    return judged(
      { name: `${name} p${percent}`, unit: "ms", bound: "at most" },
      limit,
      whole.total === 0
        ? {}
        : {
            measured: quantileOf(whole, share),
            ...(interval && { interval: [interval.low, interval.high] }),
          },
      () => tooFewToShow(countAbove(whole, limit), whole.total, 1 - share, `the p${percent}`),
    );
  });
};

const countAbove = ({ values, counts }: Counted, limit: number): number =>
  counts.reduce((sum, count, at) => ((values[at] ?? 0) > limit ? sum + count : sum), 0);

/** Why so many hits in so many requests do not show that at most this share of all requests is one. */
const tooFewToShow = (hits: number, requests: number, most: number, what: string): string | undefined =>
  shareInterval(hits, requests)[1] > most ? `${requests} requests are too few to show ${what}` : undefined;

/**
 * If a service only pushes once its clock is moved, delays cannot be measured, which fails only explicitly requested
 * objectives.
 */
const judgePushes = (
  asked: Objectives["push"],
  { pushDelays, seed }: Measures,
): readonly ObjectiveResult[] => {
  if (pushDelays === undefined || (asked === undefined && pushDelays.length === 0)) return [];
  return latencyObjectives("push delay", { ...usualPushObjectives, ...asked }, pushDelays, seed);
};

const judged = (
  bound: Bound,
  limit: number | undefined,
  found: Measured,
  whyNotProven: (limit: number) => string | undefined = () => undefined,
): readonly ObjectiveResult[] => {
  if (limit === undefined) return [];
  const { measured } = found;
  const objective = { ...bound, limit, ...found };
  if (measured === undefined)
    return [{ ...objective, verdict: "not measured", reason: "no requests were granted after the warm-up" }];
  const holds = bound.bound === "at most" ? measured <= limit : measured >= limit;
  if (!holds) return [{ ...objective, verdict: "breached" }];
  const reason = whyNotProven(limit);
  return [{ ...objective, verdict: "held", ...(reason === undefined ? {} : { reason }) }];
};

const MOST_BLOCKS = 60;
const LEAST_BLOCKS = 5;

/** A 95 % interval of a quantile; undefined if there are too few seconds for a meaningful one. */
export const quantileInterval = (
  seconds: readonly Counted[],
  share: number,
  random: Random,
): Interval | undefined => {
  const filled = seconds.filter(({ total }) => total > 0);
  // Neighbouring seconds together, so that a long run costs no more than a short one.
  const size = Math.ceil(filled.length / MOST_BLOCKS);
  const blocks = size <= 1 ? filled : inGroups(filled, size).map(mergeCounted);
  return blocks.length < LEAST_BLOCKS ? undefined : drawnIntervals(blocks, [share], 0.95, random)[0];
};

/** Wilson's 95 % interval of a proportion (Wilson 1927). */
export const shareInterval = (hits: number, of: number): [number, number] => {
  const z = 1.959964;
  const share = hits / of;
  const spread = z * Math.sqrt((share * (1 - share)) / of + (z * z) / (4 * of * of));
  const middle = share + (z * z) / (2 * of);
  const scale = 1 + (z * z) / of;
  // At the ends of the scale, rounding alone would keep the interval from reaching them.
  return [
    hits === 0 ? 0 : Math.max(0, (middle - spread) / scale),
    hits === of ? 1 : Math.min(1, (middle + spread) / scale),
  ];
};
