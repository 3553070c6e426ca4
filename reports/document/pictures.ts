import type { RuleResult } from "../../conformance/contract/record.ts";
import type { MemberVerdict } from "../duet/document.ts";
import type { Bucket, EndpointCourse, LatencyPoint } from "../gather/course.ts";
import type { ScheduleRow, Lifetime } from "../text/facts.ts";

export type Range = readonly [low: number, high: number];

export interface Lane {
  readonly name: string;
  readonly said: string;
  /** What screen readers say instead of the lane. */
  readonly label: string;
  readonly band?: { readonly look: "floor" | "limit"; readonly range: Range };
  readonly interval?: Range | undefined;
  readonly lines?: readonly (readonly [look: "detectable", value: number])[];
  readonly dot?: number | undefined;
  readonly verdict?: MemberVerdict | undefined;
}

/** What each kind of picture shows. */
interface Pictures {
  /** Values of several things on one logarithmic axis, one lane each. */
  lanes: {
    /** Ratios with no change in the middle, or shares of a limit. */
    axis: "change" | "limit";
    label: string;
    lanes: readonly Lane[];
  };
  rate: { seconds: number; buckets: readonly Bucket[]; warmUpSeconds: number };
  /** Latencies of one endpoint over time, on axes shared by all endpoints of the run. */
  latency: {
    label: string;
    points: readonly LatencyPoint[];
    bucketSeconds: number;
    seconds: number;
    rangeMs: Range;
  };
  spread: { label: string; endpoints: readonly EndpointCourse[] };
  lifetimes: {
    rows: readonly {
      readonly id: string;
      readonly anchor: string;
      readonly names: readonly string[];
      readonly interval: Lifetime;
    }[];
  };
  /** Pushes of a notification that was never acknowledged, over the windows of each interpretation. */
  schedule: {
    result: RuleResult;
    rows: readonly ScheduleRow[];
    fits: ReadonlySet<unknown>;
    names: readonly string[];
    mostPushes: number;
  };
}

export type PictureOf<Kind extends keyof Pictures> = { readonly is: Kind } & Readonly<Pictures[Kind]>;
export type Picture = { [Kind in keyof Pictures]: PictureOf<Kind> }[keyof Pictures];
