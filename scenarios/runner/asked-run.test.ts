import { describe, expect, it } from "vitest";
import { askedRateAt, stagesOf } from "../stages.ts";
import { parseAsked } from "./asked-run.ts";
import { parseBlock } from "./duet.ts";

const flags = { scenario: "token", seed: 1 };

describe("the warm-up", () => {
  it("is rounded up to whole seconds, in a duet too, because results are counted by second", () => {
    expect(parseAsked({ ...flags, durationMs: 10_000, warmUpMs: 1_500 }).warmUpMs).toBe(2_000);
    expect(parseBlock({ scenario: "token", rate: 9, blockMs: 2_000, seed: 1 }).warmUpMs).toBe(1_000);
  });

  it("is refused if it is as long as the load then", () => {
    expect(() => parseAsked({ ...flags, durationMs: 1_500, warmUpMs: 1_200 })).toThrow("--warm-up");
  });
});

describe("custom stages", () => {
  const asked = parseAsked({ ...flags, stages: ["30s:100", "1m:500", "10s:0"] });

  it("determine shape, duration and peak rate", () => {
    expect(asked).toMatchObject({ shape: "stages 30s:100 1m:500 10s:0", rate: 500, durationMs: 100_000 });
  });

  it("ramp from the rate of the previous stage, the first one from 0, as in k6", () => {
    const stages = stagesOf(asked.shape, asked.rate, asked.durationMs);
    expect([0, 15_000, 30_000, 60_000, 95_000].map((atMs) => askedRateAt(stages, atMs))).toEqual([
      0, 50, 100, 300, 250,
    ]);
  });

  it.each([
    [["0s:10"], '--stage is "0s:10"'],
    [["10s:-5"], '--stage is "10s:-5"'],
  ])("are refused: %j", (stages, told) => {
    expect(() => parseAsked({ ...flags, stages })).toThrow(told);
  });

  it("are refused together with a duration", () => {
    expect(() => parseAsked({ ...flags, stages: ["10s:5"], durationMs: 5_000 })).toThrow("remove --shape");
  });

  it("of the profile apply unless a flag sets shape, rate, duration or stages", () => {
    const asked = { scenario: "token", seed: 1, profileShape: ["10s:7"] };
    expect(parseAsked(asked)).toMatchObject({ shape: "stages 10s:7", rate: 7, durationMs: 10_000 });
    expect(parseAsked({ ...asked, stages: ["20s:5"] })).toMatchObject({ shape: "stages 20s:5" });
    for (const named of [{ shape: "ramp" }, { rate: 9 }, { durationMs: 4_000 }])
      expect(parseAsked({ ...asked, ...named }).shape).not.toContain("stages");
  });
});

it("the shape that the profile names applies unless a flag sets another or stages", () => {
  const asked = { ...flags, profileShape: "breakpoint" };
  expect(parseAsked({ ...asked, rate: 9 })).toMatchObject({ shape: "breakpoint", rate: 9 });
  expect(parseAsked({ ...asked, shape: "soak" }).shape).toBe("soak");
  expect(parseAsked({ ...asked, stages: ["20s:5"] }).shape).toBe("stages 20s:5");
});

describe("the shape breakpoint", () => {
  const asked = { scenario: "token", shape: "breakpoint", rate: 100, seed: 1 };

  it("takes a load of at least two windows after the warm-up", () => {
    expect(() => parseAsked({ ...asked, durationMs: 10_000 })).toThrow(
      /--duration is 10s.*10s or longer after the warm-up/,
    );
    expect(parseAsked({ ...asked, durationMs: 11_000 })).toMatchObject({ shape: "breakpoint", rate: 100 });
  });

  it("is refused where no objective is judged while the load goes on", () => {
    const segment = { runId: "r", index: 1, count: 2, startAtMs: 0 };
    expect(() => parseAsked({ ...asked, segment })).toThrow("without --segment");
    expect(() => parseAsked({ ...asked, scenario: "push" })).toThrow("token, notifications and mixed");
    expect(() => parseAsked({ ...asked, scenario: "breakpoint" })).toThrow(
      /--scenario is "breakpoint".*token, notifications, mixed, push/,
    );
  });
});
