import { describe, expect, it } from "vitest";
import { asPage, countOf, headlineIn, onTerminal, textOf } from "../testing/shown.ts";
import { madeDuet } from "../testing/duet-document.ts";
import { duetDoc } from "./duet.ts";

const render = (document = madeDuet()): string => asPage(duetDoc(document, "runs/duet"));
const shown = (document = madeDuet()): string => onTerminal(duetDoc(document, "runs/duet"));

describe("the page of a duet", () => {
  it("begins with the verdict, and draws the interval and the trend of each judged metric", () => {
    const document = madeDuet({ effect: { p50: 0.2, p95: 0.2 }, spoilt: [3] });
    const html = render(document);
    expect(headlineIn(html)).toBe("b is slower than a.");
    expect(textOf(html)).toContain(
      "20 of 20 planned pairs judged, 1 spoilt pair discarded; 6 metrics judged.",
    );
    expect(countOf(html, "interval regressed")).toBe(6);
    expect(countOf(html, "trend")).toBe(6);
    expect(textOf(html)).toMatch(
      /exchange p50 1\d\.\d ms 2\d\.\d ms \+\d+(\.\d)? % .*&lt; 0\.001 5(\.\d+)? % \d/,
    );
    expect(textOf(html)).toContain("4 b: 2 iterations were dropped");
  });

  it.each([
    ["b is as fast as a: any difference is too small to matter.", madeDuet()],
    ["b is faster than a.", madeDuet({ effect: { p50: -0.2, p95: -0.2 } })],
    ["This duet cannot tell whether b is slower.", madeDuet({ pairs: 2 })],
    [
      "The duet was interrupted; these are the results until then.",
      { ...madeDuet(), state: "open" as const },
    ],
    [
      "b breaks promises under load. b is as fast as a: any difference is too small to matter.",
      madeDuet({ broken: [{ side: "b", rule: "code.single-use", times: 2 }] }),
    ],
  ])("has the headline: %s", (expected, document) => {
    expect(headlineIn(render(document))).toBe(expected);
  });

  it("says that b fails more often, of which its latencies show nothing", () => {
    const failing = madeDuet({
      blocks: (blocks) =>
        blocks.map((block) => ({
          ...block,
          requests: 400,
          failed: block.side === "b" ? 2 + (block.pair % 2) : 0,
        })),
    });
    const html = render(failing);
    expect(headlineIn(html)).toBe("b fails more often than a.");
    expect(textOf(html)).toContain("Failed requests: 0 % of a, 0.625 % of b.");
  });
});

describe("a duet on the terminal", () => {
  const slower = madeDuet({ pairs: 12, effect: { p50: 0.2, p95: 0.2 }, spoilt: [3] });

  it("shows change, floor and smallest detectable change of each judged metric, and ends with the verdict", () => {
    const text = shown(slower);
    expect(text).toMatch(
      /exchange p50 +1\d\.\d ms +2\d\.\d ms +\+\d+(\.\d)? % +\+\d.* to \+\d.* % +< 0\.001 +5\.\d+ % +\d.* % +✗ regressed/,
    );
    expect(text).toMatch(/4 +b: 2 iterations were dropped/);
    expect(text).toMatch(/\n✗ b is slower than a\.\n12 of 12 planned pairs judged, 1 spoilt pair discarded/);
    expect(text).toMatch(/Pair by pair\n.*\n +exchange p50 +12 +\+.*  [▁▂▃▄▅▆▇█]{12}\n/);
  });

  it("shows throughput without a verdict, and escapes control characters", () => {
    const text = shown(
      madeDuet({ blocks: (blocks) => blocks.map((block) => ({ ...block, endpoint: "list\u001b[31m" })) }),
    );
    expect(text.slice(text.indexOf("Shown"))).toMatch(/throughput +250\/s +250\/s +0 %/);
    expect(text).toContain(String.raw`list\x1b[31m`);
  });
});
