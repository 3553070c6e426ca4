import path from "node:path";
import { encodeIntoCompressedBase64 } from "hdr-histogram-js";
import { seededRandom } from "../../../conformance/contract/random.ts";
import type { Segment } from "../../../conformance/contract/segments.ts";
import { createCollector, type Collected } from "../collect/collect.ts";
import { judgeValidity } from "../judge/validity.ts";
import type { ScriptSegment } from "../../protocol.ts";
import { nowhere, openLoadRecord, type LoadSink } from "../record.ts";
import { constantStage, headerFor, settingsFor } from "./loads.ts";

/** The first line of k6's CSV. */
export const head =
  "metric_name,timestamp,metric_value,error_code,expected_response,name,status,extra_tags,metadata\n";
const startedAtMicro = 1_790_000_000_000_000;

/** A second of k6's rows at this rate: iterations of three requests. */
export const secondOfRows = (second: number, rate: number, random: () => number): string => {
  const rows: string[] = [];
  const iterations = Math.round(rate / 3);
  for (let at = 0; at < iterations; at += 1) {
    const micro = startedAtMicro + second * 1_000_000 + Math.floor((at * 1_000_000) / iterations);
    const lag = `lag=${(random() * 2).toFixed(1)}`;
    rows.push(`touchstone_arrival,${micro},0.500000,,,,,,${lag}`);
    for (const name of ["authorize", "exchange", "refresh"]) {
      const isRefused = name === "exchange" && at % 10 === 0;
      const tags = isRefused ? `1400,true,${name},400` : `,true,${name},200`;
      const ms = (4 * Math.exp(0.7 * gauss(random))).toFixed(6);
      const row = (metric: string, value: string): string => `${metric},${micro},${value},${tags},,${lag}`;
      rows.push(
        row("http_reqs", "1.000000"),
        row("http_req_duration", ms),
        row("http_req_blocked", "0.010000"),
      );
      for (const rest of ["connecting", "tls_handshaking", "sending", "waiting", "receiving", "failed"])
        rows.push(row(`http_req_${rest}`, "0.000000"));
      const outcome = isRefused ? "refused" : "granted";
      rows.push(
        `touchstone_request,${micro},${ms},,,,,endpoint=${name}&outcome=${outcome},blocked=0.01&${lag}`,
      );
    }
    for (const what of ["code", "accessToken"])
      rows.push(
        `touchstone_issued,${micro},1.000000,,,,,what=${what},${lag}&digest=${hex(random)}${hex(random)}`,
      );
    rows.push(`touchstone_check,${micro},3.000000,,,,,rule=code.single-use,${lag}`);
    for (const own of ["data_sent", "data_received", "iteration_duration", "iterations"])
      rows.push(`${own},${micro},1.000000,,,,,,${lag}`);
  }
  rows.push(`vus,${startedAtMicro + (second + 1) * 1_000_000 - 1},20.000000,,,,,,`, "");
  return rows.join("\n");
};

/** Box and Muller (1958). */
const gauss = (random: () => number): number =>
  Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
const hex = (random: () => number): string =>
  Math.floor(random() * 0x1_0000_0000)
    .toString(16)
    .padStart(8, "0");

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
