import { describe, expect, it } from "vitest";
import { ruleThat } from "../testing/fixture.ts";
import { width } from "../text/layout.ts";
import { plain } from "./palette.ts";
import {
  afterResult,
  createProgress,
  progressAtStart,
  progressLine,
  type ProgressState,
  createLoadLive,
  loadLine,
  type LoadLiveState,
} from "./progress.ts";
import type { SecondLine } from "../../conformance/contract/load-record.ts";

const page = { palette: plain, columns: 100 };
const start = progressAtStart(["code.single-use", "code.lifetime", "code.unknown", "refresh.lifetime"]);
const passed = ruleThat.passed("code.unknown", 1);
const failed = ruleThat.failed("code.single-use", "a", "b");
const halfway: ProgressState = { ...[passed, failed].reduce(afterResult, start), elapsedMs: 4_211 };

/** The line while rules sleep. */
const waits = (sleepers: number, nextInMs: number | undefined): string =>
  progressLine({ ...halfway, waiting: { sleepers, nextInMs } }, page);

describe("the progress line", () => {
  it("shows no rule as done at the start", () => {
    expect(progressLine(start, page)).toBe(
      "────────────────────  0/4 rules  0 ms  running code.single-use, code.lifetime, code.unknown, refres…",
    );
  });

  it("counts settled and failed rules, and names running ones", () => {
    expect(progressLine(halfway, page)).toBe(
      "━━━━━━━━━━──────────  2/4 rules  1 failed  4.2 s  running code.lifetime, refresh.lifetime",
    );
  });

  it("shows how many rules wait, and for how long", () => {
    expect(waits(2, 450_000)).toMatch(/2 rules wait, the next for 7\.5 min more$/);
    expect(waits(1, 3_000)).toMatch(/1 rule waits, the next for 3\.0 s more$/);
    expect(waits(1, undefined)).toMatch(/running code\.lifetime, refresh\.lifetime$/);
    expect(waits(0, undefined)).toMatch(/running /);
  });

  it("says that it waits for the hook that moves the clock, once that takes half a second", () => {
    const moves = (movingForMs: number): string =>
      progressLine({ ...halfway, waiting: { sleepers: 2, nextInMs: undefined, movingForMs } }, page);
    expect(moves(499)).toMatch(/ {2}running code\.lifetime, refresh\.lifetime$/);
    expect(moves(500)).toMatch(/ {2}waiting for hooks\.clock\.advance for 500 ms$/);
  });

  it("fits a narrow terminal", () => {
    for (const columns of [52, 60, 80])
      expect(width(progressLine(halfway, { ...page, columns }))).toBeLessThanOrEqual(columns);
  });

  it("shows all rules as done at the end", () => {
    const end = start.ids.reduce(
      (state, id) => afterResult(state, { ...passed, id: id as "code.unknown" }),
      start,
    );
    expect(progressLine(end, page)).toBe("━━━━━━━━━━━━━━━━━━━━  4/4 rules  0 ms");
  });
});

/** A stream that keeps what was written. */
const kept = (isTTY: boolean) => {
  const written: string[] = [];
  return { written, stream: { isTTY, columns: 80, write: (text: string) => written.push(text) } };
};

describe("showing progress", () => {
  it("rewrites one line on a terminal at a limited rate, and clears it at the end", () => {
    const { written, stream } = kept(true);
    const progress = createProgress(stream, plain);
    for (const elapsedMs of [0, 10, 40, 60, 70, 200]) progress.show({ ...start, elapsedMs });
    progress.clear();
    progress.clear();
    expect(written.map((text) => /(\d+) ms/.exec(text)?.[1])).toEqual(["0", "60", "200", undefined]);
    expect(written.every((text) => text.startsWith("\r\u001b[2K") && !text.includes("\n"))).toBe(true);
    expect(written.at(-1)).toBe("\r\u001b[2K");
  });

  it("writes a line at the start and every ten seconds without a terminal, with the time until which rules wait", () => {
    const { written, stream } = kept(false);
    const progress = createProgress(stream, plain);
    const wallMs = Date.parse("2030-01-01T10:00:00Z");
    for (const elapsedMs of [0, 200, 9_900, 10_100, 20_000, 20_200])
      progress.show({ ...halfway, elapsedMs, wallMs, waiting: { sleepers: 2, nextInMs: 450_000 } });
    progress.clear();
    expect(written).toEqual([
      "judging 4 rules\n",
      "2 of 4 rules settled after 10.1 s, 1 failed; 2 rules wait, the next until 10:07:30 UTC (7.5 min more); unsettled: code.lifetime, refresh.lifetime\n",
      "2 of 4 rules settled after 20.2 s, 1 failed; 2 rules wait, the next until 10:07:30 UTC (7.5 min more); unsettled: code.lifetime, refresh.lifetime\n",
    ]);
  });

  it("says without a terminal since when it waits for the hook that moves the clock", () => {
    const { written, stream } = kept(false);
    const progress = createProgress(stream, plain);
    const wallMs = Date.parse("2030-01-01T10:00:00Z");
    for (const [elapsedMs, movingForMs] of [
      [0, 0],
      [10_000, 499],
      [20_000, 12_000],
    ] as const)
      progress.show({
        ...halfway,
        elapsedMs,
        wallMs,
        waiting: { sleepers: 2, nextInMs: undefined, movingForMs },
      });
    expect(written).toEqual([
      "judging 4 rules\n",
      "2 of 4 rules settled after 10.0 s, 1 failed; unsettled: code.lifetime, refresh.lifetime\n",
      "2 of 4 rules settled after 20.0 s, 1 failed; waiting for hooks.clock.advance since 09:59:48 UTC (12.0 s); unsettled: code.lifetime, refresh.lifetime\n",
    ]);
  });
});

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
  loadLine({ seconds, durationMs: 10_000, requestsPerIteration: 4, phase }, { ...page, columns });

describe("the progress of a load run", () => {
  it("shows what happens beside the load first, then the time", () => {
    expect(lineOf([second(7)], 120, "waiting for retries")).toMatch(
      /^waiting for retries {2}8\/10 s {2}61 of 80 requests\/s/,
    );
  });

  it("keeps failures at 80 columns, and leaves out less important values", () => {
    const latencies = { p50Ms: 12.5, p95Ms: 140, p99Ms: 1_250 };
    const line = lineOf([{ ...second(7), latencies }], 80, "waiting for retries");
    expect(line.length).toBeLessThanOrEqual(80);
    expect(line).toMatch(/8\/10 s.*p95 140 ms.*1 failed {2}0 breaches {2}0 dropped$/);
  });

  it("stops at the planned duration, omits a requested rate of zero, and writes one breach in the singular", () => {
    const { line } = second(11);
    const late = { line: { ...line, asked: 0, started: 1, breaches: { "code.single-use": 1 } } };
    expect(lineOf([late], 200)).toMatch(/^10\/10 s {2}61 requests/);
    expect(lineOf([late], 200)).toContain("1 breach ");
  });

  it("shows the last second with activity at the end", () => {
    const still = { line: { ...second(10).line, asked: 0, started: 0, requests: {} } };
    expect(lineOf([second(9), still], 200)).toMatch(/^10\/10 s {2}61 of 80 requests\/s/);
  });

  it("prints each new phase once and a line every five seconds without a terminal", () => {
    const written: string[] = [];
    const live = createLoadLive({ write: (text: string) => written.push(text) }, page);
    const seconds = Array.from({ length: 6 }, (_, at) => second(at));
    live.show({ seconds: [], durationMs: 6_000, requestsPerIteration: 4, phase: "the first phase" });
    for (let count = 1; count <= 4; count += 1)
      live.show({
        seconds: seconds.slice(0, count),
        durationMs: 6_000,
        requestsPerIteration: 4,
        phase: "the first phase",
      });
    live.show({
      seconds: seconds.slice(0, 4),
      durationMs: 6_000,
      requestsPerIteration: 4,
      phase: "the second phase",
    });
    live.show({
      seconds: seconds.slice(0, 5),
      durationMs: 6_000,
      requestsPerIteration: 4,
      phase: "the second phase",
    });
    live.show({ seconds, durationMs: 6_000, requestsPerIteration: 4 });
    expect(written.map((text) => text.trimEnd().slice(0, 30))).toEqual([
      "the first phase",
      "the second phase",
      "the second phase  5/6 s  61 of",
    ]);
  });
});
