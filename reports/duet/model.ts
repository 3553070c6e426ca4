export const duetMetrics = ["p50", "p95", "p99", "throughput"] as const;
export type DuetMetric = (typeof duetMetrics)[number];

/** Metrics that verdicts are given on, with the share from which a change matters. The others are shown. */
export type Floors = Readonly<Partial<Record<DuetMetric, number>>>;

export interface DuetRules {
  readonly floors: Floors;
  /** A change of a latency matters only from so many milliseconds on, too. */
  readonly floorMs: number;
  /** Probability of one false regression or improvement or more, over all gated metrics of all endpoints. */
  readonly alpha: number;
  /** With which probability the stated smallest effect is found. */
  readonly power: number;
  readonly pairs: number;
  /** Numbers of pairs, ascending and fewer than `pairs`, at which it may end early. */
  readonly looks: readonly number[];
}

export const usualRules: Omit<DuetRules, "pairs"> = {
  floors: { p50: 0.05, p95: 0.1 },
  floorMs: 1,
  alpha: 0.05,
  power: 0.9,
  looks: [],
};

export type MemberVerdict = "regressed" | "improved" | "unchanged" | "inconclusive";

/** One metric of one endpoint, compared over the pairs. Ratios are side b by side a. */
export interface Member {
  readonly endpoint: string;
  readonly metric: DuetMetric;
  readonly pairs: number;
  /** Geometric means over the pairs: milliseconds, or requests a second; 0 where there is no pair. */
  readonly a: number;
  readonly b: number;
  readonly ratio: number;
  /** 95 % t interval of the ratio, of this metric alone; absent where fewer than two pairs tell nothing. */
  readonly interval?: readonly [low: number, high: number];
  /** Standard deviation of the logarithms of the pairs' ratios. */
  readonly deviation: number;
  /** Of the t test, adjusted after Holm over the gated family; absent where the metric is only shown. */
  readonly adjustedP?: number;
  /** The change, as a share of side a, from which it matters; absent where the metric is only shown. */
  readonly floor?: number;
  /** The smallest change, as a share of side a, that this duet finds with its power; absent where nothing can be found. */
  readonly smallestDetectable?: number;
  /** Absent where the metric is only shown. */
  readonly verdict?: MemberVerdict;
}

export interface DuetResult {
  readonly verdict: MemberVerdict;
  readonly pairs: number;
  readonly planned: number;
  /** Pairs that were left out, with the reasons of their blocks. */
  readonly spoilt: readonly { readonly pair: number; readonly reasons: readonly string[] }[];
  /** Set where it ended at an early look. */
  readonly endedEarly: boolean;
  readonly members: readonly Member[];
  readonly rules: DuetRules;
}
