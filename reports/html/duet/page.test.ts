import { describe, expect, it } from "vitest";
import { madeDuet } from "../../testing/duet-document.ts";
import { acting, hostile } from "../../testing/hostile.ts";
import { changeScale } from "../change-scale.ts";
import { renderDuetHtml } from "./page.ts";

const render = (document = madeDuet()): string => renderDuetHtml(document, { run: "runs/duet" });

const textOf = (html: string): string =>
  html
    .slice(html.indexOf("<main"))
    .replace(/<script>.*?<\/script>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

const headline = (html: string): string => /<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1] ?? "";
const count = (html: string, className: string): number => html.split(`class="${className}"`).length - 1;

describe("the page of a duet", () => {
  it("begins with the verdict, and draws each judged metric with its interval and each of its pairs", () => {
    const document = madeDuet({ effect: { p50: 0.2, p95: 0.2 }, spoilt: [3] });
    const html = render(document);
    expect(headline(html)).toBe("b is slower than a.");
    expect(textOf(html)).toContain(
      "20 of 20 planned pairs judged, 1 spoilt pair left out; 4 metrics judged.",
    );
    expect(count(html, "interval regressed")).toBe(4);
    expect(count(html, "interval-band regressed")).toBe(4);
    expect(count(html, "pair")).toBe(4 * 20);
    expect(textOf(html)).toMatch(
      /exchange p50 20 1\d\.\d ms 2\d\.\d ms \+\d+(\.\d)? % .*&lt; 0\.001 5(\.\d+)? % \d/,
    );
    expect(textOf(html)).toContain("4 b: 2 iterations were dropped");
  });

  it("has every figure of a picture in a table as well", () => {
    const document = madeDuet();
    const text = textOf(render(document));
    const drawn = document.blocks.filter(({ pair }) => pair < 20);
    expect(drawn).toHaveLength(20 * 2 * 2);
    expect(drawn.filter(({ p50Ms }) => !text.includes(`${p50Ms.toFixed(1)} ms`))).toEqual([]);
  });

  it.each([
    ["b is as fast as a, as far as it matters.", madeDuet()],
    ["b is faster than a.", madeDuet({ effect: { p50: -0.2, p95: -0.2 } })],
    ["This duet cannot tell whether b is slower.", madeDuet({ pairs: 2 })],
    ["The duet was cut off; this is what was played until then.", { ...madeDuet(), state: "open" as const }],
    [
      "b breaks promises under load. b is as fast as a, as far as it matters.",
      madeDuet({ broken: [{ side: "b", rule: "code.single-use", times: 2 }] }),
    ],
  ])("%s", (said, document) => {
    expect(headline(render(document))).toBe(said);
  });

  it("says why it ended without all of its pairs", () => {
    const spoilt = Array.from({ length: 5 }, (_, pair) => pair);
    const cut = madeDuet({ pairs: 4, spoilt, blocks: (blocks) => blocks.filter(({ pair }) => pair < 5) });
    expect(textOf(render(cut))).toContain("It ended because more than 2 pairs were spoilt.");
  });

  it("of a pilot tells how many pairs it takes", () => {
    const html = render(madeDuet({ planFor: 0.05 }));
    expect(headline(html)).toMatch(/^\d+ pairs find a change of 5 %\.$/);
    expect(textOf(html)).toContain("From 5 pilot pairs");
  });

  it("has every id once, leads nowhere else, is the same each time, and lets nothing act", () => {
    const html = render(
      madeDuet({
        names: { a: hostile, b: hostile },
        broken: [{ side: "a", rule: hostile, times: 1 }],
        blocks: (blocks) => blocks.map((block) => ({ ...block, endpoint: hostile })),
      }),
    );
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of html.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(id);
    expect(render()).toBe(render());
    expect(html).not.toMatch(acting);
    expect([...html.matchAll(/<(script|style|img)\b/g)]).toHaveLength(2);
    expect(html.replace(/<(script|style)>.*?<\/\1>/gs, "")).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe("the axis of changes", () => {
  it("has no change in its middle, and twice as slow as far from it as twice as fast", () => {
    const { at, ticks } = changeScale([0.8, 1.3], 0, 100);
    expect(at(1)).toBeCloseTo(50);
    expect(at(2) - 50).toBeCloseTo(50 - at(0.5));
    expect([at(0), at(1_000)]).toEqual([0, 100]);
    expect(ticks.map(({ label }) => label)).toEqual(["−16.7 %", "−9.1 %", "0 %", "+10 %", "+20 %"]);
  });

  it.each([[[]], [[1]], [[1.0001]], [[50]], [[Infinity, 0, NaN]]])("has ticks for %j", (ratios) => {
    const { at, ticks } = changeScale(ratios, 0, 100);
    expect(ticks.length).toBeGreaterThanOrEqual(3);
    expect(ticks.every((tick) => tick.at >= 0 && tick.at <= 100)).toBe(true);
    expect(at(1)).toBeCloseTo(50);
  });
});
