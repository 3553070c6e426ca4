import { describe, expect, it } from "vitest";
import type { History } from "../history/history.ts";
import { asPage, textOf } from "../testing/shown.ts";
import { madeHistory } from "../testing/made-runs.ts";
import { historyDoc } from "./history.ts";

describe("a history", () => {
  it("of one series is shown run by run", () => {
    const [first] = madeHistory().series;
    const html = textOf(asPage(historyDoc(madeHistory({ series: first ? [first] : [] }))));
    expect(html).toMatch(
      /Run by run .* load-11 2030-01-12 00:00:00 8\.00 ms .* load-0 2030-01-01 00:00:00 4\.00 ms/,
    );
  });

  it("says what changed, if anything did", () => {
    const [one] = madeHistory().series;
    if (one === undefined) throw new Error("no series");
    const { newest: _, ...still } = one;
    const detail = (...series: History["series"]) => historyDoc(madeHistory({ series })).detail;
    expect(detail(one)).toBe("12 runs; the newest change: list p95 in load-6.");
    expect(detail(still)).toBe("12 runs; nothing changed.");
    expect(detail()).toBe("12 runs; no rule failed in a complete run.");
  });

  it("says of an empty selection whether the folder has runs, or some that cannot be read", () => {
    const none = { runs: [], series: [], problems: [] };
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

  it("is as bad as the worst of the latest runs, and has a table for each target, with links", () => {
    const [first, second] = madeHistory().series;
    if (first === undefined || second === undefined) throw new Error("no series");
    const [run] = madeHistory().runs;
    if (run === undefined) throw new Error("no run");
    const other = {
      ...run,
      name: "gate-1",
      asked: "gate, quick",
      target: "shop",
      outcome: "failed",
    } as const;
    const shown = historyDoc(
      madeHistory({
        runs: [other, ...madeHistory().runs],
        series: [first, { ...second, target: "shop" }],
        problems: [],
      }),
      (name) => `../runs/${name}/run.json`,
    );
    expect(shown).toMatchObject({
      look: ["bad", "cross"],
      headline: "The latest run did not pass: shop (gate, quick).",
    });
    expect(shown.sections.map(({ title }) => title)).toEqual(["staging", "shop", "All runs"]);
    expect(asPage(shown)).toContain('<a href="../runs/load-5/run.json"');
    expect(asPage(shown)).toContain('role="img" aria-label="✓✗✓✗✓✗"');
  });
});
