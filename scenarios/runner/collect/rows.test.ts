import { describe, expect, it } from "vitest";
import type { SampleOutcome } from "../../../conformance/contract/load-record.ts";
import { createRowReader, type RequestSample, type RowSink } from "./rows.ts";

/** As k6 1.8 writes them; another k6 may put columns in another order. */
const header =
  "metric_name,timestamp,metric_value,error_code,expected_response,name,status,extra_tags,metadata";

/** All rows of one request, in k6's order. */
const request = (
  atMicro: number,
  tags: string,
  durationMs: string,
  blockedMs: string,
  metadata = "lag=0",
): string =>
  [
    `http_reqs,${atMicro},1.000000,${tags},,${metadata}`,
    `http_req_duration,${atMicro},${durationMs},${tags},,${metadata}`,
    `http_req_blocked,${atMicro},${blockedMs},${tags},,${metadata}`,
    `http_req_connecting,${atMicro},0.432775,${tags},,${metadata}`,
    `http_req_tls_handshaking,${atMicro},0.000000,${tags},,${metadata}`,
    `http_req_failed,${atMicro},0.000000,${tags},,${metadata}`,
  ].join("\n");

const csv = [
  header,
  "touchstone_start,1795259500303746,1795259500303.000000,,,,,,",
  "touchstone_arrival,1795259500304038,12.500000,,,,,,lag=12.5",
  request(1795259500314282, ",true,list,200", "9.404828", "0.693605", "lag=12.5"),
  request(1795259500414282, "1400,true,exchange,400", "2.000000", "0.000000", "digest=00ff&lag=3"),
  request(1795259500514282, "1503,false,exchange,503", "1.500000", "0.250000"),
  request(1795259500614282, "1212,false,exchange,0", "0.000000", "0.000000"),
  "touchstone_hollow,1795259500314790,9.404828,,,,,endpoint=list,lag=12.5&blocked=0.693605",
  "touchstone_check,1795259500314795,2.000000,,,,,rule=code.single-use,lag=12.5",
  "touchstone_breach,1795259500314795,1.000000,,,,,rule=code.single-use,lag=12.5",
  "touchstone_issued,1795259500314795,1.000000,,,,,what=code,lag=12.5&digest=00112233445566aa",
  'touchstone_event,1795259500314795,1.000000,,,,,,"notification=a,b&account=c&sentAt=1795259500300&lag=0"',
  "data_sent,1795259500314803,72.000000,,,,,,lag=0",
  "dropped_iterations,1795259500314803,3.000000,,,,,,",
  "iteration_duration,1795259500314803,11.189209,,,,,,lag=0",
  "iterations,1795259500314803,1.000000,,,,,,lag=0",
  "vus,1795259501299803,7.000000,,,,,,",
  "vus_max,1795259501299803,10.000000,,,,,,",
  "",
].join("\n");

/** The calls that the sink gets, as a list. */
const callsOf = (feed: (push: (bytes: Uint8Array) => void) => void): unknown[] => {
  const calls: unknown[] = [];
  const sink = new Proxy({} as RowSink, {
    get:
      (_, name) =>
      (...values: unknown[]) =>
        void calls.push([name, ...values]),
  });
  feed(createRowReader(sink));
  return calls;
};

const callsIn = (text: string): unknown[] => callsOf((push) => push(Buffer.from(text)));

const sample = (
  endpoint: string,
  outcome: SampleOutcome,
  [serviceMs, blockedMs, lagMs]: readonly [number, number, number],
): RequestSample => ({ endpoint, outcome, serviceMs, blockedMs, lagMs });

const expected = [
  ["start", 1795259500303],
  ["arrival", 1795259500304.038, 12.5],
  ["request", 1795259500314.282, sample("list", "granted", [9.404828, 0.693605, 12.5])],
  ["request", 1795259500414.282, sample("exchange", "refused", [2, 0, 3])],
  ["request", 1795259500514.282, sample("exchange", "failed", [1.5, 0.25, 0])],
  ["request", 1795259500614.282, sample("exchange", "failed", [0, 0, 0])],
  ["hollow", 1795259500314.79, sample("list", "failed", [9.404828, 0.693605, 12.5])],
  ["checks", 1795259500314.795, "code.single-use", 2],
  ["breach", 1795259500314.795, "code.single-use"],
  ["issued", 1795259500314.795, "code", "00112233445566aa"],
  ["event", 1795259500314.795, 1795259500300, "c", "a,b"],
  ["dropped", 1795259500314.803, 3],
  ["virtualUsers", 1795259501299.803, 7],
];

describe("the reader of k6's CSV", () => {
  it("reports the relevant rows, and makes one sample of a request's rows", () => {
    expect(callsIn(csv)).toEqual(expected);
  });

  it("gives the same result wherever the bytes are split", () => {
    const bytes = Buffer.from(csv);
    for (let cut = 0; cut <= bytes.length; cut += 1)
      expect(
        callsOf((push) => {
          push(bytes.subarray(0, cut));
          push(bytes.subarray(cut));
        }),
      ).toEqual(expected);
  });

  it("gives the same result byte by byte, from a buffer that is overwritten", () => {
    const calls = callsOf((push) => {
      const one = new Uint8Array(1);
      for (const byte of Buffer.from(csv)) {
        one[0] = byte;
        push(one);
      }
    });
    expect(calls).toEqual(expected);
  });

  it("finds the columns by their names", () => {
    const names =
      "metric_name,timestamp,metric_value,status,name,proto,expected_response,extra_tags,metadata";
    const rows = ["duration,1000000,5.0", "blocked,1000000,0.5"].map(
      (row) => `http_req_${row}00000,201,list,HTTP/2,true,,lag=1\n`,
    );
    expect(callsIn(`${names}\n${rows.join("")}`)).toEqual([
      ["request", 1_000, sample("list", "granted", [5, 0.5, 1])],
    ]);
  });

  it("ignores requests of a script's setup", () => {
    const rows = ["duration", "blocked"].map((name) => `http_req_${name},1000000,5.000000,,true,setup,200,,`);
    expect(callsIn(`${header}\n${rows.join("\n")}\n`)).toEqual([]);
  });

  it("counts a request whose second row is missing", () => {
    const row = "http_req_duration,1000000,5.000000,,true,list,200,,";
    expect(callsIn(`${header}\n${row}\nvus,2000000,1.000000,,,,,,\n`)).toEqual([
      ["request", 1_000, sample("list", "granted", [5, 0, 0])],
      ["virtualUsers", 2_000, 1],
    ]);
  });

  it("rejects missing names, missing columns, unreadable rows and endless rows", () => {
    expect(() => callsIn("vus,1000000,1.000000,,,,,,\n")).toThrow(/does not begin with the names/);
    expect(() => callsIn("metric_name,timestamp,metric_value\n")).toThrow(/no column name/);
    expect(() => callsIn(`${header}\nvus,yesterday,1.000000,,,,,,\n`)).toThrow(/no time or no value/);
    const push = createRowReader({} as RowSink);
    push(Buffer.alloc(70_000, "v"));
    expect(() => push(Buffer.alloc(70_000, "v"))).toThrow(/longer than any/);
  });
});
