import { describe, expect, it } from "vitest";
import type { History } from "../history/index.ts";
import { textOf } from "../testing/page-text.ts";
import { unsafeCharacters, hostile } from "../testing/hostile.ts";
import { renderHtmlDocument } from "../html/document.ts";
import { historyDoc } from "./history.ts";

const renderHistoryHtml = (shown: History): string => renderHtmlDocument(historyDoc(shown), "history");

const days = Array.from({ length: 12 }, (_, day) => ({
  name: `load-${day}`,
  startedAt: new Date(Date.UTC(2030, 0, day + 1)).toISOString(),
}));

const history = (more: Partial<History> = {}): History => ({
  folder: "runs",
  runs: days.map((day) => ({
    ...day,
    kind: "load",
    state: "sealed",
    outcome: "passed",
    target: "staging",
    scenario: "mixed",
    rate: 100,
  })),
  trends: [
    {
      target: "staging",
      scenario: "mixed",
      shape: "constant",
      rate: 100,
      fingerprint: "{}",
      endpoint: "list",
      metric: "p95",
      points: days.map((day, at) => ({ ...day, value: at < 6 ? 4 : 8 })),
      changes: [{ at: 6, p: 0.005, before: 4, after: 8 }],
    },
  ],
  rules: [
    {
      id: "code.single-use",
      target: "staging",
      kind: "conform",
      points: days.map((day, at) => ({ ...day, verdict: at % 2 === 0 ? "passed" : "failed" })),
    },
  ],
  flaky: [
    { id: "code.single-use", target: "staging", kind: "conform", judged: 12, failed: 6, flips: 11, rate: 1 },
  ],
  leftOut: [],
  problems: [{ name: "broken", problem: "run.json is damaged" }],
  ...more,
});

describe("the page of a history", () => {
  it("states where latencies changed, and marks the point", () => {
    const html = renderHistoryHtml(history());
    expect(textOf(html)).toContain("From load-6 on: 8.00 ms instead of 4.00 ms (+100 %, p = 0.005).");
    expect(html.split('class="change worse"').length - 1).toBe(1);
    expect(html).toContain("list p95 over 12 runs: 4.00 ms at first, 8.00 ms at last, 1 change.");
  });

  it("shows rules that did not always pass run by run, flaky rules, and runs that cannot be read", () => {
    const html = renderHistoryHtml(history());
    const [, verdicts = ""] = /<ul class="verdicts"[^>]*>(.*?)<\/ul>/.exec(html) ?? [];
    expect([...verdicts.matchAll(/class="mark (\w+)"/g)].map(([, tone]) => tone)).toEqual(
      days.map((_, at) => (at % 2 === 0 ? "good" : "bad")),
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
    const [one] = history().trends;
    if (one === undefined) throw new Error("no trend");
    const changes = [300, 1_800].map((at) => ({ at, p: 0.005, before: 4, after: 8 }));
    const html = renderHistoryHtml(history({ trends: [{ ...one, points, changes }] }));
    expect(textOf(html)).toContain("The latest 500 of 2,000 runs.");
    expect(textOf(html)).toContain("From run-1800 on:");
    expect(textOf(html)).not.toContain("From run-300 on:");
  });

  it("has unique ids, only internal links and escaped text, and renders the same each time", () => {
    const html = renderHistoryHtml(
      history({ folder: hostile, problems: [{ name: hostile, problem: hostile }] }),
    );
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of html.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(id);
    expect(renderHistoryHtml(history())).toBe(renderHistoryHtml(history()));
    expect(html).not.toMatch(unsafeCharacters);
    expect([...html.matchAll(/<(script|style|img)\b/g)]).toHaveLength(2);
  });

  it("states that an empty folder has no runs", () => {
    expect(
      textOf(renderHistoryHtml(history({ runs: [], trends: [], rules: [], flaky: [], problems: [] }))),
    ).toContain("There are no runs yet.");
  });
});
