import { describe, expect, it } from "vitest";
import type { SecondLine } from "../../conformance/contract/load-record.ts";
import { createLoadLive, loadLine, type LoadLiveState } from "./load-live.ts";
import { plain } from "./palette.ts";

const page = { palette: plain, columns: 100 };

const second = (at: number): { readonly line: SecondLine } => ({
  line: {
    second: at,
    asked: 20,
    started: 19,
    dropped: 0,
    requests: { list: { granted: 60, refused: 0, failed: 1 } },
    breaches: {},
  },
});

/** The line of a load of ten seconds. */
const lineOf = (seconds: LoadLiveState["seconds"], columns: number, phase?: string): string =>
  loadLine({ seconds, durationMs: 10_000, phase }, { ...page, columns });

describe("the progress of a load run", () => {
  it("shows the step of a search first, then the time", () => {
    expect(lineOf([second(7)], 120, "step 3: 80 requests/s")).toMatch(
      /^step 3: 80 requests\/s {2}8\/10 s {2}19 arrivals\/s \(20 asked\) {2}61 requests\/s/,
    );
  });

  it("keeps failures at 80 columns, and leaves out less important values", () => {
    const latencies = { p50Ms: 12.5, p95Ms: 140, p99Ms: 1_250 };
    const line = lineOf([{ ...second(7), latencies }], 80, "step 3: 80 requests/s");
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line).toMatch(/8\/10 s.*p95 140 ms.*1 failed {2}0 breaches {2}0 dropped$/);
  });

  it("stops at the planned duration, omits a requested rate of zero, and writes one breach in the singular", () => {
    const { line } = second(11);
    const late = { line: { ...line, asked: 0, started: 1, breaches: { "code.single-use": 1 } } };
    expect(lineOf([late], 200)).toMatch(/^10\/10 s {2}1 arrivals\/s {2}61/);
    expect(lineOf([late], 200)).toContain("1 breach ");
  });

  it("shows the last second with activity at the end", () => {
    const still = { line: { ...second(10).line, asked: 0, started: 0, requests: {} } };
    expect(lineOf([second(9), still], 200)).toMatch(
      /^10\/10 s {2}19 arrivals\/s \(20 asked\) {2}61 requests\/s/,
    );
  });

  it("prints each new phase once and a line every five seconds without a terminal", () => {
    const written: string[] = [];
    const live = createLoadLive({ write: (text: string) => written.push(text) }, page);
    const seconds = Array.from({ length: 6 }, (_, at) => second(at));
    live.show({ seconds: [], durationMs: 6_000, phase: "step 1: 40 requests/s" });
    for (let count = 1; count <= 4; count += 1)
      live.show({ seconds: seconds.slice(0, count), durationMs: 6_000, phase: "step 1: 40 requests/s" });
    live.show({ seconds: seconds.slice(0, 4), durationMs: 6_000, phase: "step 2: 80 requests/s" });
    live.show({ seconds: seconds.slice(0, 5), durationMs: 6_000, phase: "step 2: 80 requests/s" });
    live.show({ seconds, durationMs: 6_000 });
    expect(written.map((text) => text.trimEnd().slice(0, 30))).toEqual([
      "step 1: 40 requests/s",
      "step 2: 80 requests/s",
      "step 2: 80 requests/s  5/6 s  ",
    ]);
  });
});
