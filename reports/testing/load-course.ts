import { HistogramLogWriter, Int32Histogram } from "hdr-histogram-js";
import {
  histogramTag,
  histogramUnit,
  latencyKinds,
  sampleOutcomes,
  type EndpointRow,
  type LoadBreach,
  type SampleOutcome,
  type SecondLine,
} from "../../conformance/contract/load-record.ts";
import { latenciesOf } from "../../conformance/contract/distribution.ts";
import type { Random } from "./random.ts";

/** A simulated load: lognormal latencies whose level drifts slowly and jumps occasionally. */
export interface LoadCourse {
  readonly random: Random;
  readonly seconds: number;
  readonly requests: number;
  readonly slowness: number;
  readonly failedShare: number;
  readonly breaches: readonly LoadBreach[];
  /** Seconds whose latencies appear in no row of run.json. */
  readonly warmUpSeconds: number;
}

const endpoints = [
  { name: "authorize", share: 0.25, medianMs: 1.4 },
  { name: "exchange", share: 0.25, medianMs: 2.6 },
  { name: "list", share: 0.5, medianMs: 4.2 },
] as const;
const REFUSED_SHARE = 0.02;
const WANDERING = 0.95;
const SPREAD = 0.45;
const BURST_CHANCE = 0.01;
const LAG_MS = 0.3;

const emptyHistogram = (): Int32Histogram =>
  new Int32Histogram(1, histogramUnit.highest, histogramUnit.significantDigits);

/** The histogram log, the lines of seconds.jsonl and the rows of run.json, all for the same requests. */
export const latencyLog = (
  course: LoadCourse,
): {
  readonly lines: readonly string[];
  readonly seconds: readonly SecondLine[];
  readonly rows: readonly EndpointRow[];
} => {
  const lines: string[] = [];
  const writer = new HistogramLogWriter((text) => lines.push(text.trimEnd()));
  writer.outputLogFormatVersion();
  writer.outputLegend();
  const totals = new Map<string, Int32Histogram>();
  const seconds: SecondLine[] = [];
  let level = 0;
  for (let second = 0; second < course.seconds; second += 1) {
    level = WANDERING * level + 0.06 * course.random.normal();
    const burst = course.random.next() < BURST_CHANCE ? 1.5 : 0;
    seconds.push(
      oneSecond(course, { second, level: level + burst, writer, total: (tag) => entry(totals, tag) }),
    );
  }
  return { lines, seconds, rows: rowsOf(totals) };
};

const entry = (totals: Map<string, Int32Histogram>, tag: string): Int32Histogram => {
  const known = totals.get(tag) ?? emptyHistogram();
  totals.set(tag, known);
  return known;
};

interface Moment {
  readonly second: number;
  readonly level: number;
  readonly writer: HistogramLogWriter;
  readonly total: (tag: string) => Int32Histogram;
}

const oneSecond = (course: LoadCourse, moment: Moment): SecondLine => {
  const { random } = course;
  const perSecond = course.requests / course.seconds;
  const counts: SecondLine["requests"] = {};
  for (const { name, share, medianMs } of endpoints) {
    const count = Math.max(0, Math.round(perSecond * share * (1 + 0.02 * random.normal())));
    const failed = Math.round(count * course.failedShare);
    const refused = Math.round(count * REFUSED_SHARE);
    counts[name] = { granted: count - failed - refused, refused, failed };
    for (const outcome of sampleOutcomes)
      record(course, moment, { name, medianMs, outcome, count: counts[name][outcome] });
  }
  return {
    second: moment.second,
    asked: perSecond / 4,
    started: perSecond / 4,
    dropped: 0,
    requests: counts,
    lagMs: { p50Ms: LAG_MS, maxMs: LAG_MS * 6 },
    virtualUsers: 20,
    breaches: breachesIn(course, moment.second),
    k6: { cores: 0.6, memoryMiB: 180 },
    machineIdle: 0.35,
  };
};

const record = (
  { random, slowness, warmUpSeconds }: LoadCourse,
  { second, level, writer, total }: Moment,
  asked: { name: string; medianMs: number; outcome: SampleOutcome; count: number },
): void => {
  if (asked.count === 0) return;
  const kinds = latencyKinds.map((kind) => {
    const tag = histogramTag({ endpoint: asked.name, outcome: asked.outcome, kind });
    return { kind, histogram: Object.assign(emptyHistogram(), { tag }), sum: total(tag) };
  });
  for (let request = 0; request < asked.count; request += 1) {
    const serviceMs = slowness * asked.medianMs * Math.exp(level + SPREAD * random.normal());
    for (const { kind, histogram, sum } of kinds) {
      const ms = kind === "service" ? serviceMs : serviceMs + LAG_MS * random.next();
      const value = Math.max(1, Math.round(ms * histogramUnit.perMs));
      histogram.recordValue(value);
      if (second >= warmUpSeconds) sum.recordValue(value);
    }
  }
  for (const { histogram } of kinds)
    writer.outputIntervalHistogram(histogram, second, second + 1, histogramUnit.perMs);
};

const breachesIn = ({ breaches }: LoadCourse, second: number): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const { rule, atMs } of breaches)
    if (Math.floor(atMs / 1_000) === second) counts[rule] = (counts[rule] ?? 0) + 1;
  return counts;
};

const rowsOf = (totals: ReadonlyMap<string, Int32Histogram>): readonly EndpointRow[] =>
  endpoints.flatMap(({ name }) =>
    sampleOutcomes.flatMap((outcome) => {
      const service = totals.get(histogramTag({ endpoint: name, outcome, kind: "service" }));
      const response = totals.get(histogramTag({ endpoint: name, outcome, kind: "response" }));
      return service === undefined || response === undefined
        ? []
        : [{ endpoint: name, outcome, service: latenciesOf(service), response: latenciesOf(response) }];
    }),
  );
