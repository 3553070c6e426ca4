import type { Int32Histogram } from "hdr-histogram-js";
import { histogramTag, type SecondLine } from "../../../conformance/contract/load-record.ts";
import { logHead, logLine } from "../collect/histograms.ts";
import type { TaggedHistogram } from "../collect/seconds.ts";
import type { createTotals } from "../collect/totals.ts";
import { latencyHistogram } from "../judge/counts.ts";
import type { LoadSink } from "../record.ts";
import { addedUp, bySecond, mergeLines } from "./lines.ts";
import type { SecondLatencies, SegmentRun } from "./segment-run.ts";

export interface CourseSink {
  readonly writer: Pick<LoadSink, "latency" | "second">;
  readonly totals: Pick<ReturnType<typeof createTotals>, "add">;
  readonly startAtMs: number;
  /** Breaches that only the merge found, by second and rule. */
  readonly found: ReadonlyMap<number, Readonly<Record<string, number>>>;
}

/** Adds the machines up, second by second since each began, and answers with how many seconds there were. */
export const mergeCourse = async (segments: readonly SegmentRun[], sink: CourseSink): Promise<number> => {
  const pool = createPool();
  const latencies = bySecond(segments.map((run) => run.latencies()));
  let coming = await latencies.next();
  let seconds = 0;
  for await (const { second, items } of bySecond<SecondLine>(segments.map((run) => run.seconds()))) {
    const line = withFound(mergeLines(second, items), sink.found);
    const parts: SecondLatencies[] = [];
    while (coming.done !== true && coming.value.second <= second) {
      parts.push(...coming.value.items);
      coming = await latencies.next();
    }
    const histograms = pool.merge(parts);
    sink.writer.latency(
      (second === 0 ? logHead(sink.startAtMs) : "") +
        histograms
          .map(({ endpoint, outcome, kind, histogram }) =>
            logLine(histogramTag(endpoint, outcome, kind), second, histogram),
          )
          .join(""),
    );
    sink.writer.second(line);
    sink.totals.add({
      line,
      latencies: undefined,
      histograms,
      lag: undefined,
      blockedMs: line.blockedMs ?? 0,
    });
    seconds = second + 1;
  }
  return seconds;
};

const withFound = (line: SecondLine, found: CourseSink["found"]): SecondLine => {
  const here = found.get(line.second);
  return here === undefined ? line : { ...line, breaches: addedUp([line.breaches, here]) };
};

/** Histograms are large: those of one second serve the next. */
const createPool = () => {
  const kept = new Map<string, TaggedHistogram & { readonly histogram: Int32Histogram }>();
  return {
    merge: (parts: readonly SecondLatencies[]): readonly TaggedHistogram[] => {
      for (const { histogram } of kept.values()) if (histogram.totalCount > 0) histogram.reset();
      for (const { endpoint, outcome, kind, addTo } of parts) {
        const tag = histogramTag(endpoint, outcome, kind);
        const one = kept.get(tag) ?? { endpoint, outcome, kind, histogram: latencyHistogram() };
        kept.set(tag, one);
        addTo(one.histogram);
      }
      return [...kept.values()].filter(({ histogram }) => histogram.totalCount > 0);
    },
  };
};
