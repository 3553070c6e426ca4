import { describe, expect, it } from "vitest";
import type { History } from "../history/index.ts";
import { asPage, countOf, textOf } from "../testing/shown.ts";
import { historyDays, madeHistory } from "../testing/history.ts";
import { historyDoc } from "./history.ts";

const renderHistory = (more: Partial<History> = {}): string => asPage(historyDoc(madeHistory(more)));

describe("the page of a history", () => {
  it("states where latencies changed, and marks the point", () => {
    const html = renderHistory();
    expect(textOf(html)).toContain("From load-6 on: 8.00 ms instead of 4.00 ms (+100 %, p = 0.005).");
    expect(countOf(html, "change worse")).toBe(1);
    expect(html).toContain("list p95 over 12 runs: 4.00 ms at first, 8.00 ms at last, 1 change.");
  });

  it("shows rules that did not always pass run by run, flaky rules, and runs that cannot be read", () => {
    const html = renderHistory();
    const [, verdicts = ""] = /<ul class="verdicts"[^>]*>(.*?)<\/ul>/.exec(html) ?? [];
    expect([...verdicts.matchAll(/class="mark (\w+)"/g)].map(([, tone]) => tone)).toEqual(
      historyDays.map((_, at) => (at % 2 === 0 ? "good" : "bad")),
    );
    expect(textOf(html)).toMatch(/6 of 12\s+11 times\s+100 %/);
    expect(textOf(html)).toMatch(/broken\s+run\.json is damaged/);
  });

  it("draws only the latest runs of a long history, and says so", () => {
    const points = Array.from({ length: 2_000 }, (_, at) => ({
      name: `run-${at}`,
      startedAt: "2030-01-01T00:00:00.000Z",
      value: 4,
    }));
    const [one] = madeHistory().trends;
    if (one === undefined) throw new Error("no trend");
    const changes = [300, 1_800].map((at) => ({ at, p: 0.005, before: 4, after: 8 }));
    const html = renderHistory({ trends: [{ ...one, points, changes }] });
    expect(textOf(html)).toContain("The latest 500 of 2,000 runs.");
    expect(textOf(html)).toContain("From run-1800 on:");
    expect(textOf(html)).not.toContain("From run-300 on:");
  });

  it("says that no trend changed only where a change could be found", () => {
    const [one] = madeHistory().trends;
    if (one === undefined) throw new Error("no trend");
    const trendOf = (runs: number) => ({ ...one, points: one.points.slice(-runs), changes: [] });
    const detail = (...trends: History["trends"]) =>
      historyDoc(madeHistory({ trends, rules: [], flaky: [] })).detail;
    expect(detail()).toBe("12 runs; no rule failed.");
    expect(detail(trendOf(1), trendOf(9))).toBe(
      "12 runs; too few runs to find a change in a trend (10 are needed); no rule failed.",
    );
    const unchanged =
      "12 runs; no change found in 1 trend, where one in the latest 3 runs cannot be told yet";
    expect(detail(trendOf(10))).toBe(`${unchanged}; no rule failed.`);
    expect(detail(trendOf(12), trendOf(9))).toBe(
      `${unchanged}, and too few runs to find one in 1 trend (10 are needed); no rule failed.`,
    );
    expect(detail(one, trendOf(9))).toBe("12 runs; trends changed in 1 place; no rule failed.");
  });

  it("says of an empty selection whether the folder has runs, or some that cannot be read", () => {
    const none = { runs: [], trends: [], rules: [], flaky: [], problems: [] };
    const { problems } = madeHistory();
    expect(historyDoc(madeHistory({ ...none, inFolder: 0 }))).toMatchObject({
      headline: "There are no runs yet.",
      detail: "",
    });
    expect(historyDoc(madeHistory(none))).toMatchObject({
      headline: "No run matches.",
      detail: "0 of 12 runs.",
    });
    expect(historyDoc(madeHistory({ ...none, problems })).headline).toBe(
      "No run matches; 1 run cannot be read.",
    );
    expect(historyDoc(madeHistory({ ...none, inFolder: 0, problems })).headline).toBe(
      "1 run cannot be read.",
    );
  });

  it("has no tick while a run cannot be read, which may be the latest", () => {
    expect(historyDoc(madeHistory({ problems: [] }))).toMatchObject({
      look: ["good", "check"],
      headline: "The latest run: passed.",
    });
    expect(historyDoc(madeHistory())).toMatchObject({
      look: ["open", "question"],
      headline: "The latest readable run: passed; 1 run cannot be read.",
    });
    const [one] = madeHistory().runs;
    if (one === undefined) throw new Error("no run");
    expect(historyDoc(madeHistory({ runs: [{ ...one, outcome: "failed" }] })).look).toEqual(["bad", "cross"]);
  });
});
