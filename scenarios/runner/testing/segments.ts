import path from "node:path";
import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { seededRandom } from "../../../conformance/contract/random.ts";
import type { Segment } from "../../../conformance/contract/segments.ts";
import { createCollector, type Collected } from "../collect/collector.ts";
import { judgeValidity } from "../judge/validity.ts";
import type { ScriptSegment } from "../../protocol.ts";
import { nowhere, openLoadRecord, type LoadSink } from "../record.ts";
import { constantStage, headerFor, settingsFor } from "./loads.ts";
import { head, secondOfRows } from "./sample-rows.ts";

/** Records of segments, made by the collector from rows like k6's, without k6. */

export interface PlayedOptions {
  readonly count: number;
  readonly seconds: number;
  /** Requests per second of one segment. */
  readonly rate: number;
  /** Additional rows of a segment. */
  readonly extra?: (index: number, second: number) => string;
}

const origin = "http://127.0.0.1:1";
const startAt = "2026-09-21T14:13:20.000Z";

/** Rows of one segment in one second, different for each segment. */
export const rowsOf = ({ rate, extra }: PlayedOptions, index: number, second: number): string =>
  secondOfRows(second, rate, seededRandom(1_000 * index + second)) + (extra?.(index, second) ?? "");

const stagesFor = ({ rate, seconds, count }: PlayedOptions) =>
  constantStage(count * Math.round(rate / 3), seconds * 1_000);

/** What one collector makes of these rows. */
export const collected = (
  options: PlayedOptions,
  rows: readonly string[],
  sink: LoadSink = nowhere,
  segment?: ScriptSegment,
): Collected => {
  const settings = { ...settingsFor(origin, stagesFor(options)), ...(segment && { segment }) };
  const collector = createCollector({ sink, settings, warmUpMs: 1_000 }, () => undefined);
  for (const part of [head, ...rows]) collector.samples(Buffer.from(part));
  collector.close();
  return collector.summary(true);
};

export const segmentFor = (index: number, count: number): Segment => ({
  runId: "R",
  index,
  count,
  startAt,
  beganAtMs: Date.parse(startAt) + index,
  setUpMs: 5,
  host: `host-${index}`,
  clock: { before: { offsetMs: 2, errorMs: 1, looks: 40 }, after: { offsetMs: 3, errorMs: 1, looks: 40 } },
});

/** Writes the sealed record of a segment to the folder, and returns its directory. */
export const writeSegment = (folder: string, index: number, options: PlayedOptions): string => {
  const { count, seconds, rate } = options;
  const segment = segmentFor(index, count);
  const directory = path.join(folder, String(index));
  const header = {
    ...headerFor(origin),
    seed: 7,
    rate: count * rate,
    arrivalRate: count * Math.round(rate / 3),
    durationMs: seconds * 1_000,
    warmUpMs: 1_000,
    fingerprint: { target: "bare server", segments: String(count), machine: "any" },
    segment,
  };
  const writer = openLoadRecord(directory, header);
  const rows = Array.from({ length: seconds }, (_, second) => rowsOf(options, index, second));
  const played = { index, count, startAtMs: Date.parse(startAt) };
  const { achieved, endpoints, rules, breaches, lag } = collected(options, rows, writer, played);
  writer.seal({
    endedAt: "2026-09-21T14:20:00.000Z",
    exitCode: 0,
    achieved,
    validity: judgeValidity({ achieved, whole: true, virtualUsers: { ready: 9, most: 9 }, cores: 2 }),
    endpoints: [...endpoints],
    rules: [...rules],
    breaches: [...breaches],
    segment: { ...segment, lag: encodeIntoCompressedBase64(lag) },
  });
  return directory;
};

/** The row of an issued credential. */
export const issuedRow = (what: string, digest: string, second: number): string =>
  `touchstone_issued,${1_790_000_000_000_000 + second * 1_000_000 + 500_000},1.000000,,,,,what=${what},lag=0.1&digest=${digest}\n`;
