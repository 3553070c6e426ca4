import type { Int32Histogram } from "hdr-histogram-js";
import type {
  HistogramTag,
  LoadBreach,
  LoadRecord,
  SecondLine,
} from "../../../conformance/contract/load-record.ts";
import type { Segment } from "../../../conformance/contract/segments.ts";

/** The latencies of one endpoint in one second of a segment. */
export interface SecondLatencies extends HistogramTag {
  readonly second: number;
  readonly addTo: (histogram: Int32Histogram) => void;
}

export interface AnyLoadRun {
  readonly directory: string;
  readonly record: LoadRecord;
  seconds(): AsyncGenerator<SecondLine>;
  latencies(): AsyncGenerator<SecondLatencies>;
  breaches(): AsyncGenerator<LoadBreach>;
  /** The digests of issued credentials in one partition. */
  digests(partition: number): Promise<Buffer>;
}

/** A run with a segment; not every run has one. */
export interface SegmentRun extends AnyLoadRun {
  readonly segment: Segment;
}
