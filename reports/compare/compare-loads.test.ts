import { describe, expect, it } from "vitest";
import type { Case } from "../../conformance/contract/cases.ts";
import { loadCases } from "../../conformance/contract/load-cases.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { LoadRun } from "../read/index.ts";
import { comparisonSuite } from "../ci/compared.ts";
import { compareDoc } from "../document/compare.ts";
import { asPage, countOf, onTerminal } from "../testing/shown.ts";
import { compared, madeRuns } from "../testing/made-runs.ts";
import type { LoadRunSpec } from "../testing/records.ts";
import { seededRandom } from "../../conformance/contract/random.ts";
import { compareRuns } from "./compare.ts";
import type { Comparison } from "./shape.ts";
import { limitsOf } from "./speed.ts";
import { problemOf } from "../../conformance/testing/errors.ts";

const made = madeRuns();
const load = (spec: Partial<LoadRunSpec> & { seed: number }): Promise<LoadRun> =>
  made.load({ seconds: 4, requests: 1_200, ...spec });

/** A run whose record says something else, with the items that follow from it. */
const changed = ({ record, ...run }: LoadRun, more: Partial<LoadRecord>): LoadRun => {
  const other = { ...record, ...more };
  return { ...run, record: { ...other, cases: loadCases(other) } };
};

const show = (comparison: Comparison): string => onTerminal(compareDoc(comparison));

describe("two load runs", () => {
  it("show latencies side by side, without judging them", async () => {
    const result = await compared(await load({ seed: 1 }), await load({ seed: 2, slowness: 1.5 }));
    const { metrics = [], unjudged } = result.speed ?? {};
    expect(metrics.filter(({ unit }) => unit === "ms")).toHaveLength(9);
    for (const { base, head } of metrics.filter(({ id }) => id.endsWith("p50"))) {
      expect(head / base).toBeLessThan(1.8);
      expect(head / base).toBeGreaterThan(1.2);
    }
    expect(result).toMatchObject({ verdict: "no regression" });
    expect(unjudged).toBe(
      "one run cannot tell a change from chance; 10 or more valid ones of the same fingerprint can",
    );
  });

  it("are incomplete, without a tick, if they judged nothing in common, and no speed", async () => {
    const bare = { record: { rules: [], objectives: [] } };
    const result = await compared(await load({ seed: 1, ...bare }), await load({ seed: 2, ...bare }));
    expect(result).toMatchObject({ verdict: "incomplete", lacking: [{ what: "promises and objectives" }] });
    expect(show(result)).not.toContain("✓");
  });

  it("are regressed if a rule newly fails under load", async () => {
    const result = await compared(await load({ seed: 1 }), await load({ seed: 1, breaches: 3 }));
    expect(result.verdict).toBe("regressed");
  });

  it.each([
    ["failing unjudged", { checks: 0, breaches: 0 }, { checks: 84, breaches: 3 }, "cross"],
    ["newly unable", { checks: 84, breaches: 3 }, { checks: 0, breaches: 0 }, "question"],
  ])("tell of a rule that only one of them checked that it is %s", async (change, before, now) => {
    const of = (rule: { checks: number; breaches: number }) =>
      load({
        seed: 1,
        record: {
          rules: [
            { id: "code.single-use", ...rule },
            { id: "code.expiry", checks: 9, breaches: 0 },
          ],
        },
      });
    const result = await compared(await of(before), await of(now));
    expect(result).toMatchObject({ verdict: "incomplete", cases: [{ verdict: change }, {}] });
    const suite = comparisonSuite(result, 3);
    expect(suite.cases.find(({ name }) => name === "code.single-use under load")?.status).toBe("skipped");
    expect(show(result)).not.toContain("✓");
  });

  it("are regressed if an objective with the same limit is newly missed", async () => {
    const withErrors = (measured: number, limit = 0.01, more = {}) =>
      load({
        seed: 1,
        record: {
          objectives: [
            {
              name: "list errors",
              limit,
              unit: "share",
              bound: "at most",
              measured,
              verdict: measured > limit ? "breached" : "held",
            },
          ],
          ...more,
        },
      });
    const [good, bad] = [await withErrors(0), await withErrors(0.31)];
    const result = await compared(good, bad);
    expect(result.verdict).toBe("regressed");
    expect((await compared(bad, good)).verdict).toBe("no regression");
    expect((await compared(bad, bad)).verdict).toBe("no regression");
    expect((await compared(await withErrors(0.31, 0.5), bad)).verdict).toBe("no regression");
    const invalid = await withErrors(0.31, 0.01, { validity: { valid: false, reasons: [] } });
    expect((await compared(good, invalid)).verdict).toBe("incomplete");
  });

  it.each([
    ["sent no request", { achieved: undefined, endpoints: [], rules: [] }, "not valid: it sent no requests"],
    ["ended early", { stopped: "the target is down" }, "ended early: the target is down"],
    ["was interrupted", { outcome: "interrupted" as const }, "it was interrupted"],
  ])("are incomplete, without a tick, if the head run %s", async (_, record, why) => {
    const head = await load({ seed: 2 });
    const result = await compared(await load({ seed: 1 }), changed(head, record as Partial<LoadRecord>));
    expect(result.verdict).toBe("incomplete");
    expect(result.lacking[0]).toEqual({ side: "head", what: "the run", why });
    expect(show(result)).not.toContain("✓");
  });

  it("are incomplete if an endpoint is missing in one of them", async () => {
    const base = await load({ seed: 1 });
    const head = await load({ seed: 2 });
    const endpoints = head.record.endpoints.filter(({ endpoint }) => endpoint !== "list");
    const result = await compared(base, changed(head, { endpoints }));
    expect(result).toMatchObject({
      verdict: "incomplete",
      lacking: [{ side: "head", what: "endpoint list", why: "not checked" }],
    });
  });

  it("come with a warning if one is invalid", async () => {
    const validity = { valid: false, reasons: [{ reason: "9 iterations were dropped", remedy: "" }] };
    const result = await compared(await load({ seed: 1 }), await load({ seed: 2, record: { validity } }));
    expect(show(result)).toContain("The head run is incomplete: not valid: 9 iterations were dropped");
  });

  it("are refused if one of them is a gate run", async () => {
    expect(await problemOf(compared(made.gate({ rules: [] }), await load({ seed: 1 }), true))).toMatch(
      /give two runs of one kind$/,
    );
    expect(await problemOf(compared([], await load({ seed: 1 })))).toContain("give two or more");
    const leftOut = Array.from({ length: 12 }, (_, at) => ({
      directory: `runs/${at}`,
      reason: "it differs in rate",
    }));
    const options = { force: false, leftOut };
    const head = await load({ seed: 1 });
    const said = await problemOf(() => compareRuns([], head, options));
    expect(said).toContain('give two or more\n"runs/0" was left out: it differs in rate\n');
    expect(said).toMatch(/"runs\/9" was left out: it differs in rate$/);
  });
});

describe("a load run against ten earlier ones", () => {
  const tenRuns = (): Promise<LoadRun[]> =>
    Promise.all(
      Array.from({ length: 10 }, (_, at) => load({ seed: at, slowness: 20 * (1 + 0.02 * (at % 3)) })),
    );

  it("is judged by prediction limits", async () => {
    const bases = await tenRuns();
    const usual = await compared(bases, await load({ seed: 30, slowness: 20.4 }));
    const slow = await compared(bases, await load({ seed: 31, slowness: 34 }));
    expect([usual.verdict, slow.verdict]).toEqual(["no regression", "regressed"]);
    expect(countOf(asPage(compareDoc(slow)), "change-dot regressed")).toBeGreaterThan(0);
  });

  it("is incomplete, naming them, if too few earlier runs measured some of its latencies", async () => {
    const [first, ...others] = await tenRuns();
    if (first === undefined) throw new Error("there is a first run");
    const endpoints = first.record.endpoints.filter(({ endpoint }) => endpoint !== "list");
    const without = changed(first, { endpoints });
    const head = await load({ seed: 30, slowness: 20.4 });
    const result = await compared([without, ...others], head);
    expect(result.verdict).toBe("incomplete");
    expect(result.lacking).toEqual(
      ["p50", "p95", "p99"].map((metric) => ({
        side: "base",
        what: `list ${metric}`,
        why: "9 of the earlier runs measured it; 10 are needed",
      })),
    );
    expect(show(result)).not.toMatch(/^✓/m);
    expect(comparisonSuite(result, 3).cases).toContainEqual(
      expect.objectContaining({ name: "base: list p50", status: "skipped" }),
    );
    expect((await compared([first, ...others], head)).lacking).toEqual([]);
  });

  it("is not judged if fewer than ten earlier runs are valid and complete", async () => {
    const bases = await tenRuns();
    const invalid = { validity: { valid: false, reasons: [{ reason: "dropped", remedy: "" }] } };
    const result = await compared(
      [...bases.slice(1), await load({ seed: 40, record: invalid })],
      await load({ seed: 41 }),
      true,
    );
    expect(result.speed?.metrics.some(({ limits }) => limits !== undefined)).toBe(false);
    expect(result.leftOut).toMatchObject([{ reason: "not valid: dropped: " }]);
    expect(result.speed?.unjudged).toContain("9 runs cannot tell");
  });

  it("raises few false alarms over all metrics despite noise between runs", async () => {
    const { record } = await load({ seed: 1, seconds: 2, requests: 200 });
    const random = seededRandom(9);
    const vary = (): readonly Case[] => {
      const level = Math.exp(0.2 * (random() + random() - 1));
      const scaled = (row: (typeof record.endpoints)[number]) => {
        const ms = 50 * level * Math.exp(0.1 * (random() - 0.5));
        return { ...row, response: { ...row.response, p50Ms: ms, p95Ms: 2 * ms, p99Ms: 3 * ms } };
      };
      return loadCases({ ...record, endpoints: record.endpoints.map(scaled) });
    };
    let alarms = 0;
    for (let round = 0; round < 400; round += 1)
      if (limitsOf(Array.from({ length: 10 }, vary), vary()).some(({ verdict }) => verdict !== "usual"))
        alarms += 1;
    expect(alarms).toBeLessThan(30);
  });

  it("does not count failures of the event hook, which is not part of the service", async () => {
    const runs = (await tenRuns()).map(({ record }) => record);
    const [row] = runs[0]?.endpoints ?? [];
    if (row === undefined) throw new Error("no endpoint");
    const failing = { ...row, endpoint: "trigger", outcome: "failed" as const };
    const { record } = await load({ seed: 50, slowness: 20.4 });
    const head = loadCases({ ...record, endpoints: [...record.endpoints, failing] });
    expect(
      limitsOf(
        runs.map(({ cases }) => cases),
        head,
      ).at(-1),
    ).toMatchObject({
      id: "all failed share",
      verdict: "usual",
    });
  });

  it("reports a higher share of failed requests", async () => {
    const bases = (await tenRuns()).map(({ record }) => record.cases);
    const head = (await load({ seed: 50, slowness: 20.4, failedShare: 0.05 })).record.cases;
    expect(limitsOf(bases, head).at(-1)).toMatchObject({
      id: "all failed share",
      verdict: "more failures",
    });
  });
});
