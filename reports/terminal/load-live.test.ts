import { describe, expect, it } from "vitest";
import type { SecondLine } from "../../conformance/contract/load-record.ts";
import { createLoadLive, loadLine } from "./load-live.ts";
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

describe("a load run while it goes on", () => {
  it("names the step of a search first, then the time", () => {
    expect(
      loadLine({ seconds: [second(7)], durationMs: 30_000, phase: "step 3: 80 requests/s" }, page),
    ).toMatch(/^step 3: 80 requests\/s {2}8\/30 s {2}19 of 20 arrivals\/s, 61 requests\/s/);
  });

  it("without a terminal tells each thing that begins once, and a line every five seconds", () => {
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
