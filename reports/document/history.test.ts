import { describe, expect, it } from "vitest";
import type { History } from "../history/history.ts";
import { asPage, onTerminal, textOf } from "../testing/shown.ts";
import { madeHistory } from "../testing/made-runs.ts";
import { historyDoc } from "./history.ts";

describe("a history", () => {
  it("is a table with a small trend for each metric and rule", () => {
    expect(onTerminal(historyDoc(madeHistory()))).toMatchInlineSnapshot(`
      "Folder  runs

      staging
        Rule or metric               Now  Since                            How often  Trend         Run
        code.single-use         ✗ failed  2030-01-06 00:00             failed 3 of 6  ✓✗✓✗✓✗        load-5
        gate, standard                    passed to failed
        list p95                 8.00 ms  2030-01-07 00:00                   12 runs  ▅▅▅▅▅▅██████  load-6
        mixed, constant, 100/s            4.00 ms to 8.00 ms (+100 %)

      All runs
        Run      Started              Of                      Outcome
        load-11  2030-01-12 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-10  2030-01-11 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-9   2030-01-10 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-8   2030-01-09 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-7   2030-01-08 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-6   2030-01-07 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-5   2030-01-06 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-4   2030-01-05 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-3   2030-01-04 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-2   2030-01-03 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-1   2030-01-02 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s
        load-0   2030-01-01 00:00:00  staging                 ✓ passed
                                      mixed, constant, 100/s

      Incomplete or unreadable, so in no trend
        Run     Why
        broken  run.json is damaged

      ? The latest readable run: passed; 1 run cannot be read.
      12 runs; 1 rule or objective failing now; the newest change: list p95 in load-6.
      "
    `);
  });

  it("has the same on a page, where one that was asked for is shown run by run", () => {
    const [first] = madeHistory().series;
    const html = textOf(asPage(historyDoc(madeHistory({ series: first ? [first] : [] }))));
    expect(html).toMatch(
      /list p95 8\.00 ms 2030-01-07 00:00 4\.00 ms to 8\.00 ms \(\+100 %\) 12 runs load-6/,
    );
    expect(html).toMatch(
      /Run by run .* load-11 2030-01-12 00:00:00 8\.00 ms .* load-0 2030-01-01 00:00:00 4\.00 ms/,
    );
    expect(html).toMatch(/broken\s+run\.json is damaged/);
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
