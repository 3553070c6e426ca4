import { addedUp } from "../../../conformance/contract/second-counts.ts";
import { histogramTag, type SecondLine } from "../../../conformance/contract/load-record.ts";
import { latencyHistogram, logLines, type TaggedHistogram } from "../collect/histograms.ts";
import type { createTotals } from "../collect/totals.ts";
import type { LoadSink } from "../record.ts";
import type { SecondLatencies, SegmentRun } from "./segment-run.ts";

export interface CourseSink {
  readonly writer: Pick<LoadSink, "latency" | "second">;
  readonly totals: Pick<ReturnType<typeof createTotals>, "add">;
  readonly startAtMs: number;
  /** Breaches that only the merge found, by second and rule. */
  readonly found: ReadonlyMap<number, Readonly<Record<string, number>>>;
}

/** Adds up the machines, second by second from each start, and returns the number of seconds. */
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
    sink.writer.latency(logLines(sink.startAtMs, second, histograms));
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

/** Histograms are large, so they are reused for the next second. */
const createPool = () => {
  const kept = new Map<string, TaggedHistogram>();
  return {
    merge: (parts: readonly SecondLatencies[]): readonly TaggedHistogram[] => {
      for (const { histogram } of kept.values()) if (histogram.totalCount > 0) histogram.reset();
      for (const { endpoint, outcome, kind, addTo } of parts) {
        const tag = histogramTag({ endpoint, outcome, kind });
        const one = kept.get(tag) ?? { endpoint, outcome, kind, histogram: latencyHistogram() };
        kept.set(tag, one);
        addTo(one.histogram);
      }
      return [...kept.values()].filter(({ histogram }) => histogram.totalCount > 0);
    },
  };
};

type Counts = SecondLine["requests"][string];

/**
 * Merges the same second of several machines. Counts are added; for load and lag indicators the worst counts, because
 * one spoilt machine spoils the whole.
 */
const mergeLines = (second: number, lines: readonly SecondLine[]): SecondLine => {
  const sum = (of: (line: SecondLine) => number | undefined): number =>
    lines.reduce((total, line) => total + (of(line) ?? 0), 0);
  const most = (values: readonly (number | undefined)[]): number | undefined => {
    const known = values.filter((value) => value !== undefined);
    return known.length === 0 ? undefined : Math.max(...known);
  };
  const late = lines.flatMap(({ lagMs }) => lagMs ?? []);
  const idle = most(lines.map(({ machineIdle }) => (machineIdle === undefined ? undefined : -machineIdle)));
  const users = lines.flatMap(({ virtualUsers }) => virtualUsers ?? []);
  const collectorLagMs = most(lines.map(({ collector }) => collector?.lagMs));
  return {
    second,
    asked: sum(({ asked }) => asked),
    started: sum(({ started }) => started),
    dropped: sum(({ dropped }) => dropped),
    requests: mergeRequests(lines),
    ...(late.length === 0
      ? {}
      : {
          lagMs: {
            p50Ms: Math.max(...late.map((one) => one.p50Ms)),
            maxMs: Math.max(...late.map((one) => one.maxMs)),
          },
        }),
    ...(users.length === 0 ? {} : { virtualUsers: sum(({ virtualUsers }) => virtualUsers) }),
    blockedMs: sum(({ blockedMs }) => blockedMs),
    breaches: addedUp(lines.map(({ breaches }) => breaches)),
    ...(lines.some(({ k6 }) => k6 !== undefined)
      ? { k6: { cores: sum(({ k6 }) => k6?.cores), memoryMiB: sum(({ k6 }) => k6?.memoryMiB) } }
      : {}),
    ...(lines.some(({ collector }) => collector !== undefined)
      ? {
          collector: {
            cores: sum(({ collector }) => collector?.cores),
            memoryMiB: sum(({ collector }) => collector?.memoryMiB),
            ...(collectorLagMs === undefined ? {} : { lagMs: collectorLagMs }),
          },
        }
      : {}),
    ...(idle === undefined ? {} : { machineIdle: -idle }),
  };
};

const mergeRequests = (lines: readonly SecondLine[]): SecondLine["requests"] => {
  const merged: Record<string, Counts> = {};
  for (const { requests } of lines)
    for (const [endpoint, { granted, refused, failed }] of Object.entries(requests)) {
      const sum = (merged[endpoint] ??= { granted: 0, refused: 0, failed: 0 });
      sum.granted += granted;
      sum.refused += refused;
      sum.failed += failed;
    }
  return merged;
};

/** The data of several machines by second; each machine's seconds are in order. */
async function* bySecond<T extends { readonly second: number }>(
  streams: readonly AsyncGenerator<T>[],
): AsyncGenerator<{ readonly second: number; readonly items: readonly T[] }> {
  const heads = await Promise.all(streams.map(async (stream) => ({ stream, next: await stream.next() })));
  for (;;) {
    const open = heads.flatMap(({ next }) => (next.done === true ? [] : [next.value.second]));
    if (open.length === 0) return;
    const second = Math.min(...open);
    const items: T[] = [];
    for (const head of heads)
      while (head.next.done !== true && head.next.value.second <= second) {
        items.push(head.next.value);
        head.next = await head.stream.next();
      }
    yield { second, items };
  }
}
