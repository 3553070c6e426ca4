import { describe, expect, it } from "vitest";
import { asPage, countOf, headlineIn } from "../testing/shown.ts";
import { madeDuet } from "../testing/duet-document.ts";
import { duetDoc } from "./duet.ts";

describe("the document of a duet", () => {
  it("draws on its page the interval and the trend of each judged metric", () => {
    const html = asPage(duetDoc(madeDuet({ effect: { p50: 0.2, p95: 0.2 }, spoilt: [3] }), "runs/duet"));
    expect(headlineIn(html)).toBe("b is slower than a.");
    expect(countOf(html, "interval regressed")).toBe(6);
    expect(countOf(html, "trend")).toBe(6);
  });

  const failing = madeDuet({
    blocks: (blocks) =>
      blocks.map((block) => ({
        ...block,
        requests: 400,
        failed: block.side === "b" ? 2 + (block.pair % 2) : 0,
      })),
  });

  it.each([
    ["b is faster than a.", madeDuet({ effect: { p50: -0.2, p95: -0.2 } })],
    ["This duet cannot tell whether b is slower.", madeDuet({ pairs: 2 })],
    [
      "b breaks promises under load. b is as fast as a: any difference is too small to matter.",
      madeDuet({ broken: [{ side: "b", rule: "code.single-use", times: 2 }] }),
    ],
    // Its latencies show nothing of this.
    ["b fails more often than a.", failing],
  ])("has the headline: %s", (headline, document) => {
    expect(duetDoc(document, "runs/duet").headline).toBe(headline);
  });

  it("says which share of the requests failed", () => {
    expect(JSON.stringify(duetDoc(failing, "runs/duet"))).toContain(
      "Failed requests: 0 % of a, 0.625 % of b.",
    );
  });
});
