import { describe, expect, it } from "vitest";
import type { LoadRun } from "../read/index.ts";
import { compareDoc } from "../document/compare.ts";
import { onTerminal } from "../testing/shown.ts";
import { compared, madeRuns } from "../testing/made-runs.ts";
import type { LoadRunSpec } from "../testing/records.ts";
import type { Comparison } from "./index.ts";
import { compareWithLimits } from "./limits.ts";
import { seededRandom } from "../../conformance/contract/random.ts";

const made = madeRuns();

const load = (spec: Partial<LoadRunSpec> & { seed: number }): Promise<LoadRun> =>
  made.load({ seconds: 24, requests: 3_600, ...spec });

const show = (comparison: Comparison): string => onTerminal(compareDoc(comparison));

describe("a load run against ten earlier ones", () => {
  const tenRuns = (): Promise<LoadRun[]> =>
    Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        load({ seed: at, seconds: 4, requests: 1_200, slowness: 20 * (1 + 0.02 * (at % 3)) }),
      ),
    );

  it("is judged by prediction limits", async () => {
    const bases = await tenRuns();
    const usual = await compared(
      bases,
      await load({ seed: 30, seconds: 4, requests: 1_200, slowness: 20.4 }),
    );
    const slow = await compared(bases, await load({ seed: 31, seconds: 4, requests: 1_200, slowness: 34 }));
    expect([usual.verdict, slow.verdict]).toEqual(["no regression", "regressed"]);
    expect(show(slow)).toContain("Against 10 earlier runs");
    expect(show(slow)).toMatch(/list +p50 .* slower/);
  });

  it("is not judged if fewer than ten earlier runs are valid and complete", async () => {
    const bases = await tenRuns();
    const invalid = { validity: { valid: false, reasons: [{ reason: "dropped", remedy: "" }] } };
    const result = await compared(
      [...bases.slice(1), await load({ seed: 40, record: invalid })],
      await load({ seed: 41 }),
      true,
    );
    if (result.kind !== "load") throw new Error("it compares no load");
    expect(result.limits).toBeUndefined();
    expect(result.leftOut).toMatchObject([{ reason: "it is invalid" }]);
    expect(result.unjudged).toContain("9 runs cannot tell");
  });

  it("raises few false alarms over all metrics despite noise between runs", async () => {
    const { record } = await load({ seed: 1, seconds: 2, requests: 200 });
    const random = seededRandom(9);
    const vary = (): typeof record => {
      const level = Math.exp(0.2 * (random() + random() - 1));
      const scaled = (row: (typeof record.endpoints)[number]) => {
        const ms = 50 * level * Math.exp(0.1 * (random() - 0.5));
        return { ...row, response: { ...row.response, p50Ms: ms, p95Ms: 2 * ms, p99Ms: 3 * ms } };
      };
      return { ...record, endpoints: record.endpoints.map(scaled) };
    };
    let alarms = 0;
    for (let round = 0; round < 400; round += 1)
      if (
        compareWithLimits(Array.from({ length: 10 }, vary), vary()).metrics.some(
          ({ verdict }) => verdict !== "usual",
        )
      )
        alarms += 1;
    expect(alarms).toBeLessThan(30);
  });

  it("reports a higher share of failed requests", async () => {
    const bases = (await tenRuns()).map(({ record }) => record);
    const head = (await load({ seed: 50, seconds: 4, requests: 1_200, slowness: 20.4, failedShare: 0.05 }))
      .record;
    expect(compareWithLimits(bases, head).metrics.at(-1)).toMatchObject({
      metric: "failed share",
      verdict: "more failures",
    });
  });
});
