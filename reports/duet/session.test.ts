import { describe, expect, it } from "vitest";
import type { Block } from "../../conformance/contract/duet.ts";
import { duetSuite } from "../ci/compared.ts";
import { duetDoc } from "../document/duet.ts";
import { madeDuet, type MadeDuet } from "../testing/duet-document.ts";
import { onTerminal } from "../testing/shown.ts";
import { duetExitCode, type DuetDocument } from "./document.ts";
import { duetSession, type DuetQuestion } from "./session.ts";

const show = (document: DuetDocument): string => onTerminal(duetDoc(document, "runs/x"));

const header = {
  tool: "0.1.0",
  startedAt: "2030-01-01T00:00:00.000Z",
  a: "fake:old",
  b: "fake:new",
  scenario: "token",
  rate: 60,
  blockMs: 2_000,
  warmUpMs: 400,
};
const question: DuetQuestion = { pairs: 4, seed: 1 };

const pair = (number: number, ratio: number): readonly Block[] =>
  (["a", "b"] as const).map((side) => {
    const p50Ms = 20 * (side === "b" ? ratio : 1);
    const more = { p95Ms: 2 * p50Ms, p99Ms: 3 * p50Ms, throughput: 100 };
    return { pair: number, side, endpoint: "list", p50Ms, ...more };
  });

/** A pair in which b granted nothing. */
const deaf = (number: number): readonly Block[] => {
  const [a] = pair(number, 1) as [Block];
  const b: Block = {
    pair: number,
    side: "b",
    endpoint: "",
    p50Ms: 0,
    p95Ms: 0,
    p99Ms: 0,
    throughput: 0,
    spoilt: "no requests were granted",
  };
  return [a, b];
};

const ratios = [1.3, 1.31, 1.29, 1.3];
const slower = ratios.flatMap((ratio, number) => pair(number, ratio));
const documentOf = (blocks: readonly Block[]): DuetDocument =>
  duetSession(question, header).document("ended", { blocks, broken: [] });

describe("a duet's session", () => {
  it("ends once all pairs were played", () => {
    const { goesOn } = duetSession(question, header);
    expect([goesOn([]), goesOn(slower.slice(0, 6)), goesOn(slower)]).toEqual([true, true, false]);
  });

  it("ends inconclusive, without listing an endpoint, if one side grants nothing", () => {
    const blocks = [0, 1, 2].flatMap(deaf);
    expect(duetSession(question, header).goesOn(blocks)).toBe(false);
    const document = documentOf(blocks);
    expect(document).toMatchObject({ verdict: "inconclusive", pairs: 0, members: [] });
    expect(document.spoilt[0]).toEqual({ pair: 0, reasons: ["b: no requests were granted"] });
    expect(duetExitCode(document)).toBe(3);
    expect(document.ended).toBe("too many pairs were spoilt");
    const text = show(document);
    expect(text).toMatch(/0 of 4 planned pairs judged, 3 spoilt pairs discarded/);
    expect(text.replaceAll("\n", " ")).toContain("It ended because more than 2 pairs were spoilt.");
  });

  it.each([2, 3, 4, 7, 20, 1_000])("of %i pairs ends even if every pair is spoilt", (pairs) => {
    const { goesOn, schedule } = duetSession({ ...question, pairs }, header);
    const blocks: Block[] = [];
    while (goesOn(blocks)) blocks.push(...deaf(schedule.next().value.pair));
    expect(blocks.length / 2).toBe(Math.max(2, Math.floor(pairs / 2)) + 1);
  });
});

describe("a duet that gave up on a noisy machine", () => {
  /** Of twenty planned pairs, eleven are spoilt when the given number is clean. */
  const gaveUp = (clean: number, more: MadeDuet = {}): DuetDocument =>
    madeDuet({
      pairs: 20,
      spoilt: Array.from({ length: 11 }, (_, at) => at),
      blocks: (blocks) => blocks.filter(({ pair: number }) => number < 11 + clean),
      ...more,
    });

  it.each([
    [9, 0],
    [10, 0],
    [10, -0.2],
  ])("with %i clean pairs is incomplete everywhere", (clean, change) => {
    const document = gaveUp(clean, { effect: { p50: change, p95: change } });
    expect(document).toMatchObject({ ended: "too many pairs were spoilt", pairs: clean });
    expect(duetExitCode(document)).toBe(3);
    expect(show(document)).toContain("? Too few clean pairs to tell whether b is slower.\n");
    const why = `only ${clean} of 20 planned pairs were clean`;
    const suite = duetSuite(document, "runs/x");
    expect(suite).toMatchObject({ incomplete: why, exitCode: 3 });
    expect(suite.cases[0]).toMatchObject({
      name: "the duet is complete",
      status: "skipped",
      message: `incomplete: ${why}`,
    });
  });

  it("fails if the clean pairs show that b is slower, or b broke a promise", () => {
    const slow = gaveUp(9, { effect: { p50: 2, p95: 2 } });
    expect(duetExitCode(slow)).toBe(1);
    expect(show(slow)).toContain("✗ b is slower than a.\n");
    const broken = [{ side: "b", rule: "code.single-use", times: 2 }] as const;
    expect(show(gaveUp(9, { broken }))).toContain(
      "✗ b breaks promises under load. Too few clean pairs to tell whether b is slower.\n",
    );
  });
});

describe("a duet's exit code", () => {
  const broke = (side: "a" | "b") => [{ side, rule: "code.single-use", times: 2 }];

  it.each([
    [0, "the verdict is unchanged", { verdict: "unchanged" }],
    [0, "the verdict is inconclusive with all pairs", { verdict: "inconclusive" }],
    [1, "b regressed", {}],
    [1, "b broke a rule", { verdict: "unchanged", broken: broke("b") }],
    [0, "only a broke a rule", { verdict: "unchanged", broken: broke("a") }],
    [3, "too few pairs were played", { verdict: "unchanged", pairs: 3 }],
    [130, "it was interrupted", { state: "interrupted" }],
  ] as const)("is %i if %s", (code, _, change) => {
    expect(duetExitCode({ ...documentOf(slower), ...change })).toBe(code);
  });

  it("comes with the broken rules and the path of the record", () => {
    const document = { ...documentOf(slower), broken: broke("b") };
    const text = show(document);
    expect(text).toMatch(/✗ b breaks promises under load\. b is slower than a\.\n/);
    expect(text.trimEnd().endsWith("b broke code.single-use 2 times under this load.")).toBe(true);
    expect(text).toMatch(/Record +runs\/x\n/);
  });
});
