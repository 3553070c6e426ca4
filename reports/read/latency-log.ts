import { decodeFromCompressedBase64, JsHistogram } from "hdr-histogram-js";
import {
  histogramTag,
  histogramUnit,
  latencyKinds,
  sampleOutcomes,
  type HistogramTag,
} from "../../conformance/contract/load-record.ts";
import { linesOf } from "./lines.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

export type Histogram = JsHistogram;

/** The latencies of one endpoint in one second of the load, in microseconds. */
export interface SecondHistogram extends HistogramTag {
  /** Seconds since the start of the load; the first is 0. */
  readonly second: number;
  readonly histogram: Histogram;
}

/** An undecoded line of the log. */
export interface SecondLatencies extends Omit<SecondHistogram, "histogram"> {
  readonly where: string;
  /** The maximum, in microseconds. */
  readonly greatest: number;
  readonly encoded: string;
}

/** Selects histograms; an absent field matches everything. Others are not decoded. */
export type HistogramFilter = Partial<Pick<HistogramTag, "kind" | "outcome">>;

/**
 * The histograms of a log (HDR log, version 2 encoding). Lines are `Tag=...,start,length,max,base64`; comments, the
 * legend and an unterminated last line are skipped. Throws ConfigurationError for any other line.
 */
export async function* histogramsOf(
  file: string,
  filter: HistogramFilter | undefined,
): AsyncGenerator<SecondHistogram> {
  for await (const line of latenciesIn(file, filter)) yield decoded(line);
}

/** Histograms added up by their keys; those without a key are left out. */
export const addedByKey = async (
  histograms: AsyncIterable<SecondHistogram>,
  keyOf: (one: SecondHistogram) => string | undefined,
): Promise<ReadonlyMap<string, SecondHistogram>> => {
  const sums = new Map<string, SecondHistogram>();
  for await (const one of histograms) {
    const key = keyOf(one);
    if (key === undefined) continue;
    const known = sums.get(key);
    // The first decoded histogram accumulates the sum: nothing else references it.
    if (known === undefined) sums.set(key, one);
    else known.histogram.add(one.histogram);
  }
  return sums;
};

export async function* latenciesIn(
  file: string,
  filter: HistogramFilter = {},
): AsyncGenerator<SecondLatencies> {
  for await (const { number, text, isWhole } of linesOf(file)) {
    if (!isWhole) continue;
    const found = lineIn(text, filter, `${file}, line ${number}`);
    if (found !== undefined) yield found;
  }
}

/** A complete line; undefined if it holds no histogram or is not selected. Throws ConfigurationError if damaged. */
const lineIn = (text: string, filter: HistogramFilter, where: string): SecondLatencies | undefined => {
  if (text === "" || text.startsWith("#") || text.startsWith('"')) return undefined;
  const [tag = "", start = "", , maximum = "", encoded = ""] = text.split(",");
  const { endpoint, outcome, kind } = tagged(tag, where);
  if (filter.kind !== undefined && filter.kind !== kind) return undefined;
  if (filter.outcome !== undefined && filter.outcome !== outcome) return undefined;
  const second = Math.round(Number(start));
  if (start === "" || !Number.isFinite(second)) throw damaged(where, "its start is not a number");
  const greatest = Math.round(Number(maximum) * histogramUnit.perMs);
  return { endpoint, outcome, kind, second, where, greatest, encoded };
};

const decoded = ({ where, greatest, encoded, ...of }: SecondLatencies): SecondHistogram => {
  const histogram = decode(encoded, where);
  // Counts give the maximum to three digits only; the line itself has it exactly.
  const { maxValue } = histogram;
  if (greatest >= histogram.lowestEquivalentValue(maxValue) && greatest < maxValue)
    histogram.maxValue = greatest;
  return { ...of, histogram };
};

const damaged = (where: string, why: string): ConfigurationError =>
  new ConfigurationError(`${where} is damaged: ${why}`);

const tagged = (field: string, where: string): HistogramTag => {
  const [endpoint = "", outcomeName = "", kindName = ""] = field.replace(/^Tag=/, "").split(";");
  const outcome = sampleOutcomes.find((one) => one === outcomeName);
  const kind = latencyKinds.find((one) => one === kindName);
  if (
    outcome === undefined ||
    kind === undefined ||
    field !== `Tag=${histogramTag({ endpoint, outcome, kind })}`
  )
    throw damaged(where, "it is not a histogram with its endpoint, outcome and kind of latency");
  return { endpoint, outcome, kind };
};

const decode = (encoded: string, where: string): Histogram => {
  try {
    const histogram = decodeFromCompressedBase64(encoded);
    if (histogram instanceof JsHistogram) return histogram;
  } catch {
    // Falls through to the error below.
  }
  throw damaged(where, "its histogram cannot be decoded");
};
