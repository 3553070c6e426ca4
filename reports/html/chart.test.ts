import fc from "fast-check";
import { renderToString } from "preact-render-to-string";
import { expect, it, describe } from "vitest";
import { plot, type Tick, changeScale, latencyScale, timeScale, upScale } from "./chart.ts";
import { latencyPicture } from "./pictures/load.ts";
import { axisOf } from "./pictures/gate.ts";

/** The width of a picture on the narrowest page, and the usual maximum width of a character in its labels. */
const [WIDTH_PX, CHARACTER_PX] = [220, 7];

/** The start and end of each label of the horizontal axis, and the height of each of the vertical one, in pixels. */
const labelsOf = (x: readonly Tick[], y: readonly Tick[], heightPx: number) => {
  const html = renderToString(plot({ label: "", heightPx, x, y, shapes: undefined }));
  const [scale = "", axis = ""] = html.split('class="plot"');
  const along = [...axis.matchAll(/<text x="(.*?)%" y=".*?" text-anchor="(.*?)">(.*?)<\/text>/g)].map(
    ([, at, anchor, label = ""]) => {
      const [middle, width] = [(Number(at) / 100) * WIDTH_PX, label.length * CHARACTER_PX];
      const from = middle - (anchor === "start" ? 0 : anchor === "end" ? width : width / 2);
      return [from, from + width] as const;
    },
  );
  const up = [...scale.matchAll(/<text x="48" y="(.*?)"/g)].map(([, at]) => Number(at));
  return { along: along.toSorted(([a], [b]) => a - b), up: up.toSorted((a, b) => a - b) };
};

const overlaps = (x: readonly Tick[], y: readonly Tick[], heightPx: number): number => {
  const { along, up } = labelsOf(x, y, heightPx);
  return (
    along.filter(([from], at) => from < (along[at - 1]?.[1] ?? -Infinity)).length +
    up.filter((one, at) => one - (up[at - 1] ?? -Infinity) < 12).length
  );
};

const heights = fc.constantFrom(56, 110, 150, 170);
const positive = fc.double({ min: 1e-3, max: 1e7, noNaN: true });

it("labels of an axis never overlap", () => {
  fc.assert(
    fc.property(
      heights,
      fc.integer({ min: 1, max: 1_000_000 }),
      positive,
      positive,
      fc.array(fc.integer({ min: 0, max: 700_000 }), { minLength: 1, maxLength: 8 }),
      (heightPx, seconds, low, high, instants) => {
        const y = upScale(high, heightPx, (value) => String(Math.round(value))).ticks;
        const latencies = latencyScale(Math.min(low, high), Math.max(low, high), heightPx, 2).ticks;
        const rows = instants.map((beforeMs, at) => ({
          push: at + 1,
          afterMs: 0,
          beforeMs,
          expectedMs: {},
          earliestMs: {},
          latestMs: {},
        }));
        expect(overlaps(timeScale(seconds).ticks, y, heightPx)).toBe(0);
        expect(overlaps(latencyScale(low, high, 0, 100).ticks, latencies, heightPx)).toBe(0);
        expect(overlaps(axisOf(rows).ticks, [], heightPx)).toBe(0);
        expect(
          overlaps(
            changeScale([low, high], 1, 99).ticks,
            changeScale([low], heightPx - 4, 4).ticks,
            heightPx,
          ),
        ).toBe(0);
      },
    ),
    { numRuns: 300 },
  );
});

it("a time axis always shows its unit, and an axis of changes its middle", () => {
  const labels = (ticks: readonly Tick[]): string =>
    renderToString(plot({ label: "", heightPx: 100, x: ticks, y: [], shapes: undefined }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), positive, (seconds, ratio) => {
      expect(labels(timeScale(seconds).ticks)).toMatch(/ (s|min|h)<\/text>/);
      expect(labels(changeScale([ratio], 1, 99).ticks)).toMatch(/[^\d]0 %<\/text>/);
    }),
    { numRuns: 100 },
  );
});

it("the heat map shades cells with any number of requests", () => {
  const point = { second: 0, count: 1, p50Ms: 1, p95Ms: 1, p99Ms: 1, maxMs: 1 };
  for (let most = 1; most < 300; most += 1) {
    const points = [{ ...point, rows: [[3, most] as const, [4, Math.ceil(most / 2)] as const] }];
    const html = renderToString(
      latencyPicture({
        is: "latency",
        label: "",
        points,
        bucketSeconds: 1,
        seconds: 1,
        rangeMs: [1, 10],
      }),
    );
    expect(html).not.toContain("undefined");
    expect(html).toContain('class="heat-6"');
  }
});

describe("the axis of changes", () => {
  it("puts no change in the middle, with twice as slow and twice as fast at equal distances from it", () => {
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
