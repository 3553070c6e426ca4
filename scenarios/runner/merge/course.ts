import { addedUp } from "../../../conformance/contract/second-counts.ts";
import { histogramTag, type SecondLine, type LoadBreach } from "../../../conformance/contract/load-record.ts";
import { latencyHistogram, logLines, type TaggedHistogram } from "../collect/histograms.ts";
import { KEPT_PER_RULE } from "../collect/breaches.ts";
import { addCounts } from "../collect/requests.ts";
import type { createTotals } from "../collect/totals.ts";
import { type LoadSink, crossDuplicates, type CrossDuplicate } from "../record.ts";
import { type SecondLatencies, type SegmentRun, begunOf, type Begun } from "./machines.ts";
import type { Stage } from "../../protocol.ts";
import { askedRateAt } from "../../stages.ts";
import { digestPartitions } from "../../../conformance/contract/segments.ts";
import { issuedOnce } from "../../../conformance/judging/laws/tokens.ts";
import { issuedNames, issuedRules } from "../../protocol.ts";

export interface FoundDuplicates {
  readonly byRule: Readonly<Record<string, number>>;
  readonly bySecond: ReadonlyMap<number, Readonly<Record<string, number>>>;
  /** The first breach of each rule. */
  readonly breaches: readonly LoadBreach[];
}

/**
 * Finds credentials issued on several machines. Holds one partition at a time, so that memory does not grow with the
 * run.
 */
export const duplicatesAcross = async (
  segments: readonly SegmentRun[],
  stages: readonly Stage[],
): Promise<FoundDuplicates> => {
  const begun = new Map(segments.map((run) => [run.segment.index, begunOf(run)]));
  const byRule: Record<string, number> = {};
  const bySecond = new Map<number, Record<string, number>>();
  const breaches: LoadBreach[] = [];
  const note = (duplicate: CrossDuplicate): void => {
    const rule = issuedRules[duplicate.what];
    byRule[rule] = (byRule[rule] ?? 0) + 1;
    const breach = breachOf(duplicate, begun, stages);
    const second = Math.max(0, Math.floor(breach.atMs / 1_000));
    const here = bySecond.get(second) ?? {};
    here[rule] = (here[rule] ?? 0) + 1;
    bySecond.set(second, here);
    if ((byRule[rule] ?? 0) <= KEPT_PER_RULE) breaches.push(breach);
  };
  let table: Int32Array | undefined;
  for (let partition = 0; partition < digestPartitions; partition += 1) {
    const held = [];
    for (const run of segments)
      held.push({ segment: run.segment.index, bytes: await run.digests(partition) });
    table = crossDuplicates(held, note, table);
  }
  return { byRule, bySecond, breaches };
};

/** The corrected clocks say which came first, with their error. */
const breachOf = (
  { what, first, second }: CrossDuplicate,
  begun: ReadonlyMap<number, Begun | undefined>,
  stages: readonly Stage[],
): LoadBreach => {
  const place = ({ segment, atMs }: CrossDuplicate["first"]) => {
    const { ms = 0, errorMs } = begun.get(segment) ?? {};
    return { segment, atMs: atMs + ms, errorMs };
  };
  const [one, other] = [place(first), place(second)];
  const [before, after] = one.atMs <= other.atMs ? [one, other] : [other, one];
  const at = (ms: number): string => `${(ms / 1_000).toFixed(3)} s`;
  const error =
    before.errorMs === undefined || after.errorMs === undefined
      ? "between clocks that are not known"
      : `± ${Math.ceil(before.errorMs + after.errorMs)} ms between their clocks`;
  return {
    rule: issuedRules[what],
    atMs: after.atMs,
    segment: after.segment,
    expected: issuedOnce[what === "code" ? "code" : "token"],
    actual: `the ${issuedNames[what]} issued ${at(after.atMs)} after the start of the load on the machine of segment ${after.segment} had already been issued at ${at(before.atMs)} on that of segment ${before.segment} (${error})`,
    askedRate: askedRateAt(stages, after.atMs),
    exchanges: [],
  };
};

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
    const { blockedMs = 0 } = line;
    sink.totals.add({ line, latencies: undefined, histograms, lag: undefined, blockedMs });
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

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Merges the same second of several machines. Counts are added; for load and lag indicators the worst counts, because
 * one spoilt machine spoils the whole.
 */
const mergeLines = (second: number, lines: readonly SecondLine[]): SecondLine => {
  const known = <T>(of: (line: SecondLine) => T | undefined): readonly T[] =>
    lines.map(of).filter((one) => one !== undefined);
  const late = known(({ lagMs }) => lagMs);
  const users = known(({ virtualUsers }) => virtualUsers);
  const k6 = known((line) => line.k6);
  const collectors = known(({ collector }) => collector);
  const lags = known(({ collector }) => collector?.lagMs);
  const idle = known(({ machineIdle }) => machineIdle);
  const requests: SecondLine["requests"] = {};
  for (const line of lines) addCounts(requests, line.requests);
  const unsent = addedUp(lines.map((line) => line.unsent ?? {}));
  return {
    second,
    asked: sum(lines.map(({ asked }) => asked)),
    started: sum(lines.map(({ started }) => started)),
    dropped: sum(lines.map(({ dropped }) => dropped)),
    requests,
    ...(Object.keys(unsent).length > 0 && { unsent }),
    ...(late.length > 0 && {
      lagMs: {
        p50Ms: Math.max(...late.map(({ p50Ms }) => p50Ms)),
        maxMs: Math.max(...late.map(({ maxMs }) => maxMs)),
      },
    }),
    ...(users.length > 0 && { virtualUsers: sum(users) }),
    blockedMs: sum(lines.map(({ blockedMs = 0 }) => blockedMs)),
    breaches: addedUp(lines.map(({ breaches }) => breaches)),
    ...(k6.length > 0 && { k6: useOf(k6) }),
    ...(collectors.length > 0 && {
      collector: { ...useOf(collectors), ...(lags.length > 0 && { lagMs: Math.max(...lags) }) },
    }),
    ...(idle.length > 0 && { machineIdle: Math.min(...idle) }),
  };
};

const useOf = (processes: readonly NonNullable<SecondLine["k6"]>[]) => ({
  cores: sum(processes.map(({ cores }) => cores)),
  memoryMiB: sum(processes.map(({ memoryMiB }) => memoryMiB)),
});

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
