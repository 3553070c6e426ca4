import type { BreakpointStep } from "../../conformance/contract/load-record.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Densities } from "../compare/densities.ts";
import type { MemberVerdict } from "../duet/model.ts";
import type { Bucket } from "../gather/buckets.ts";
import type { EndpointCourse } from "../gather/course.ts";
import type { LatencyPoint } from "../gather/heat.ts";
import type { Trend } from "../history/trends.ts";
import type { ScheduleRow, TimeInterval } from "../text/facts.ts";

export type Range = readonly [low: number, high: number];

/** Values of several things on one logarithmic axis, one lane each. */
export interface LanesPicture {
  readonly is: "lanes";
  /** Ratios with no change in the middle, or latencies in milliseconds. */
  readonly axis: "change" | "latency";
  readonly label: string;
  readonly lanes: readonly Lane[];
}

export interface Lane {
  readonly name: string;
  readonly said: string;
  /** What screen readers say instead of the lane. */
  readonly label: string;
  readonly band?: { readonly look: "floor" | "limit"; readonly range: Range };
  readonly interval?: Range | undefined;
  readonly lines?: readonly (readonly [look: "detectable" | "usual", value: number])[];
  readonly dot?: number | undefined;
  readonly verdict?: MemberVerdict | undefined;
}

export interface PairsPicture {
  readonly is: "pairs";
  readonly label: string;
  readonly verdict: MemberVerdict;
  readonly pairs: readonly { readonly pair: number; readonly ratio: number }[];
  readonly ratio: number;
  readonly interval: Range | undefined;
  readonly floor: number;
  readonly detectable: number | undefined;
}

export interface DensitiesPicture {
  readonly is: "densities";
  readonly densities: Densities;
}

export interface TrendPicture {
  readonly is: "trend";
  readonly trend: Trend;
  readonly label: string;
}

export interface VerdictsPicture {
  readonly is: "verdicts";
  readonly label: string;
  readonly points: readonly { readonly name: string; readonly verdict: string }[];
}

export interface RatePicture {
  readonly is: "rate";
  readonly seconds: number;
  readonly buckets: readonly Bucket[];
  readonly warmUpSeconds: number;
}

/** Latencies of one endpoint over time, on axes shared by all endpoints of the run. */
export interface LatencyPicture {
  readonly is: "latency";
  readonly label: string;
  readonly points: readonly LatencyPoint[];
  readonly bucketSeconds: number;
  readonly seconds: number;
  readonly rangeMs: Range;
}

export interface SpreadPicture {
  readonly is: "spread";
  readonly label: string;
  readonly endpoints: readonly EndpointCourse[];
}

export interface StepsPicture {
  readonly is: "steps";
  readonly label: string;
  readonly steps: readonly BreakpointStep[];
}

export interface LifetimesPicture {
  readonly is: "lifetimes";
  readonly rows: readonly {
    readonly id: string;
    readonly anchor: string;
    readonly names: readonly string[];
    readonly interval: TimeInterval;
  }[];
}

/** Pushes of a notification that was never acknowledged, over the windows of each interpretation. */
export interface SchedulePicture {
  readonly is: "schedule";
  readonly result: RuleResult;
  readonly rows: readonly ScheduleRow[];
  readonly fits: ReadonlySet<unknown>;
  readonly names: readonly string[];
  readonly mostPushes: number;
}

export type Picture =
  | LanesPicture
  | PairsPicture
  | DensitiesPicture
  | TrendPicture
  | VerdictsPicture
  | RatePicture
  | LatencyPicture
  | SpreadPicture
  | StepsPicture
  | LifetimesPicture
  | SchedulePicture;
