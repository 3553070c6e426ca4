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
  /** Since the start of the load; the first is 0. */
  readonly second: number;
  readonly histogram: Histogram;
}

/** A line of the log that was not decoded. */
export interface SecondLatencies extends Omit<SecondHistogram, "histogram"> {
  readonly where: string;
  /** The greatest, in microseconds. */
  readonly greatest: number;
  readonly encoded: string;
}

/** Which histograms are wanted; what is left out lets all through. The others are not even decoded. */
export type HistogramFilter = Partial<Pick<HistogramTag, "kind" | "outcome">>;

/**
 * The histograms of a log (HDR log, version 2 encoding). Lines are `Tag=...,start,length,max,base64`;
 * comments and the legend are passed over, and so is a last line without its end.
 * Throws ConfigurationError where a whole line is none of these.
 */
export async function* histogramsOf(
  file: string,
  filter: HistogramFilter | undefined,
): AsyncGenerator<SecondHistogram> {
  for await (const line of latenciesIn(file, filter)) yield decoded(line);
}

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

/** The histogram of one whole line; undefined where it is none, or not wanted. Throws ConfigurationError where it is damaged. */
export const latencyIn = (text: string, filter: HistogramFilter): SecondHistogram | undefined => {
  const found = lineIn(text, filter, "a line of the histogram log");
  return found && decoded(found);
};

const lineIn = (text: string, filter: HistogramFilter, where: string): SecondLatencies | undefined => {
  if (text === "" || text.startsWith("#") || text.startsWith('"')) return undefined;
  const [tag = "", start = "", , maximum = "", encoded = ""] = text.split(",");
  const { endpoint, outcome, kind } = tagged(tag, where);
  if (filter.kind !== undefined && filter.kind !== kind) return undefined;
  if (filter.outcome !== undefined && filter.outcome !== outcome) return undefined;
  const second = Math.round(Number(start));
  if (start === "" || !Number.isFinite(second)) throw damaged(where, "its start is no number");
  const greatest = Math.round(Number(maximum) * histogramUnit.perMs);
  return { endpoint, outcome, kind, second, where, greatest, encoded };
};

const decoded = ({ where, greatest, encoded, ...of }: SecondLatencies): SecondHistogram => {
  const histogram = decode(encoded, where);
  // Counts tell the greatest value to three digits only; the line itself has it exactly.
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
    throw damaged(where, "it is no histogram with its endpoint, outcome and kind of latency");
  return { endpoint, outcome, kind };
};

const decode = (encoded: string, where: string): Histogram => {
  try {
    const histogram = decodeFromCompressedBase64(encoded);
    if (histogram instanceof JsHistogram) return histogram;
  } catch {
    // Falls through to the same complaint.
  }
  throw damaged(where, "its histogram cannot be decoded");
};
