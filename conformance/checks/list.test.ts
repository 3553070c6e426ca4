import { describe, expect, it } from "vitest";
import { type Broken, othersOf } from "../../reports/text/breach.ts";
import { brokenBy, pass, discard } from "../judging/case-verdict.ts";
import { always, open, wrong } from "./testing/open-run.ts";

describe("forEach", () => {
  it("judges the whole list, and lists all values that failed", async () => {
    const judged: number[] = [];
    const verdict = await open().run.forEach([1, 2, 3, 4, 5, 6, 7, 8, 9], (value) => {
      judged.push(value);
      return Promise.resolve(value % 3 === 0 ? wrong : pass);
    });
    expect(new Set(judged)).toEqual(new Set([1, 2, 3, 4, 5, 6, 7, 8, 9]));
    expect(verdict).toMatchObject({
      kind: "failed",
      cases: 9,
      facts: { broken: ["3", "6", "9"], brokenCases: 3 },
      breach: { reproduction: { counterexample: "3" } },
    });
  });

  it("reports a value that fails on its own before one that failed beside others", async () => {
    const judged = new Set<number>();
    const verdict = await open().run.forEach([1, 2, 3, 4, 5], (value) => {
      const isFirstTime = !judged.has(value);
      judged.add(value);
      return Promise.resolve(value === 4 || (value === 2 && isFirstTime) ? wrong : pass);
    });
    expect(verdict).toMatchObject({
      facts: { broken: ["2", "4"] },
      breach: { reproduction: { counterexample: "4", replayed: { failures: 4, attempts: 4 } } },
    });
  });

  it("reports the single probe that fails instead of its group", async () => {
    const verdict = await open().run.forEach(
      [[1, 2, 4], [5, 6, 7, 9], [8]],
      (probes) => Promise.resolve(probes.some((probe) => probe % 3 === 0) ? wrong : pass),
      { print: String, narrower: (probes) => probes.map((probe) => [probe]) },
    );
    expect(verdict).toMatchObject({
      facts: { broken: ["6"], brokenCases: 1 },
      breach: { reproduction: { counterexample: "6", replayed: { failures: 4, attempts: 4 } } },
    });
  });

  it("lists of every other group only the probe that is known to fail, and each once", async () => {
    const verdict = await open().run.forEach(
      [
        [1, 2, 3],
        [5, 6, 7, 9],
        [10, 6],
        [11, 12],
        [13, 14],
      ],
      (probes) => {
        const failing = probes.find((probe) => probe % 3 === 0);
        return Promise.resolve(failing === undefined ? pass : brokenBy(String(failing), wrong));
      },
      { print: String, narrower: (probes) => probes.map((probe) => [probe]) },
    );
    expect(verdict).toMatchObject({
      facts: { broken: ["3", "6", "12"], brokenCases: 3 },
      breach: { reproduction: { counterexample: "3" } },
    });
    expect(othersOf(verdict as Broken)).toEqual(["2 further inputs:", "6", "12"]);
  });

  it("reports the whole group if no probe fails alone, and truncates long inputs", async () => {
    const verdict = await open().run.forEach(
      [90, 91].map((length) => Array.from({ length }, (_, probe) => probe)),
      (probes) => Promise.resolve(probes.length > 1 ? wrong : pass),
      { print: String, narrower: (probes) => probes.map((probe) => [probe]) },
    );
    const cut = /^0,1,2,.*… \(\d+ characters more\)$/;
    expect(verdict).toMatchObject({
      facts: { broken: [expect.stringMatching(/89$/), expect.stringMatching(cut)] },
      breach: { reproduction: { counterexample: expect.stringMatching(/89$/) } },
    });
    expect(othersOf(verdict as Broken)).toEqual([expect.stringMatching(/^1 further input: 0,1,2,/)]);
  });

  it("counts judged values, but not discarded ones", async () => {
    const verdict = await open().run.forEach([1, 2, 3], (value) =>
      Promise.resolve(value === 2 ? discard("in the guard") : pass),
    );
    expect(verdict).toEqual({ kind: "passed", cases: 2 });
  });

  it("is inconclusive for an empty list", async () => {
    expect(await open().run.forEach([], always(pass))).toMatchObject({ kind: "inconclusive", cases: 0 });
  });
});
