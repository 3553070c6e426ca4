import { describe, expect, it } from "vitest";
import type { SampleOutcome } from "../../../conformance/contract/load-record.ts";
import { createRowReader, type RequestSample, type RowSink } from "./rows.ts";

/** As k6 1.8 writes them; another k6 may put columns in another order. */
const header =
  "metric_name,timestamp,metric_value,error_code,expected_response,name,status,extra_tags,metadata";

/** Rows that k6 itself writes of each request, and the one of our script. */
const request = (atMicro: number, durationMs: string, tags: string, metadata = "blocked=0&lag=0"): string =>
  [
    `http_reqs,${atMicro},1.000000,,true,list,200,,${metadata}`,
    `http_req_duration,${atMicro},${durationMs},,true,list,200,,${metadata}`,
    `touchstone_request,${atMicro},${durationMs},,,,,${tags},${metadata}`,
  ].join("\n");

const csv = [
  header,
  "touchstone_start,1795259500303746,1795259500303.000000,,,,,,",
  "touchstone_arrival,1795259500304038,12.500000,,,,,,lag=12.5",
  request(1795259500314282, "9.404828", "endpoint=list&outcome=granted", "lag=12.5&blocked=0.693605"),
  request(1795259500414282, "2.000000", "endpoint=exchange&outcome=refused", "blocked=0&digest=00ff&lag=3"),
  request(
    1795259500514282,
    "1.500000",
    "cause=503 with Retry-After&endpoint=exchange&outcome=failed",
    "blocked=0.25&lag=0",
  ),
  request(1795259500614282, "0.000000", "cause=open files&endpoint=exchange&outcome=unsent"),
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
  cause?: string,
): RequestSample => ({
  endpoint,
  outcome,
  serviceMs,
  blockedMs,
  lagMs,
  ...(cause !== undefined && { cause }),
});

const expected = [
  ["start", 1795259500303],
  ["arrival", 1795259500304.038, 12.5],
  ["request", 1795259500314.282, sample("list", "granted", [9.404828, 0.693605, 12.5])],
  ["request", 1795259500414.282, sample("exchange", "refused", [2, 0, 3])],
  ["request", 1795259500514.282, sample("exchange", "failed", [1.5, 0.25, 0], "503 with Retry-After")],
  ["unsent", 1795259500614.282, "open files"],
  ["checks", 1795259500314.795, "code.single-use", 2],
  ["breach", 1795259500314.795, "code.single-use"],
  ["issued", 1795259500314.795, "code", "00112233445566aa"],
  ["event", 1795259500314.795, 1795259500300, "c", "a,b"],
  ["dropped", 1795259500314.803, 3],
  ["virtualUsers", 1795259501299.803, 7],
];

describe("the reader of k6's CSV", () => {
  it("reports the relevant rows", () => {
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
    const row =
      "touchstone_request,1000000,5.000000,,,HTTP/2,,endpoint=list&outcome=granted,blocked=0.5&lag=1";
    expect(callsIn(`${names}\n${row}\n`)).toEqual([
      ["request", 1_000, sample("list", "granted", [5, 0.5, 1])],
    ]);
  });

  it("rejects missing names, missing columns, unreadable rows and endless rows", () => {
    expect(() => callsIn("vus,1000000,1.000000,,,,,,\n")).toThrow(/does not begin with the names/);
    expect(() => callsIn("metric_name,timestamp,metric_value\n")).toThrow(/no column extra_tags/);
    expect(() => callsIn(`${header}\nvus,yesterday,1.000000,,,,,,\n`)).toThrow(/no time or no value/);
    const push = createRowReader({} as RowSink);
    push(Buffer.alloc(70_000, "v"));
    expect(() => push(Buffer.alloc(70_000, "v"))).toThrow(/longer than any/);
  });
});
