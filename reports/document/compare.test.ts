import { describe, expect, it } from "vitest";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Comparison } from "../compare/index.ts";
import type { GateRun, Run } from "../read/index.ts";
import { compared, madeRuns } from "../testing/made-runs.ts";
import { asPage, countOf, headlineIn, textOf } from "../testing/shown.ts";
import { ruleThat, withResults } from "../testing/fixture.ts";
import type { LoadRunSpec } from "../testing/records.ts";
import { compareDoc } from "./compare.ts";

const renderCompareHtml = (comparison: Comparison): string => asPage(compareDoc(comparison));

const made = madeRuns();
const gate = (...rules: readonly RuleResult[]): GateRun => made.gate({ rules: withResults(...rules) });
const load = (spec: Partial<LoadRunSpec> & { seed: number }): Promise<Run> =>
  made.load({ seconds: 12, requests: 1_200, ...spec });

const failing = (id: RuleResult["id"], said = "it is granted"): RuleResult =>
  ruleThat.failed(id, "it is refused", said);

describe("the page of two runs of the gate", () => {
  it("begins with the verdict, and lists the changes rule by rule", async () => {
    const drifted = ruleThat.observed("authorize.redirect", '{"status":302}');
    const html = renderCompareHtml(
      await compared([gate(failing("code.single-use"))], gate(failing("code.lifetime"), drifted)),
    );
    expect(headlineIn(html)).toBe("The head run is worse than the base.");
    const text = textOf(html);
    expect(text).toContain("1 rule newly failing, 1 fixed, 0 no longer judged; 1 observation changed;");
    expect(text).toMatch(
      /Newly failing failed code\.lifetime passed before, failed now .* Seen it is granted/,
    );
    expect(text).toMatch(/Fixed passed code\.single-use failed before, passed now/);
    expect(text).toMatch(/authorize\.redirect .* status: 302/);
  });

  it("states above the verdict that the comparison was forced", async () => {
    const other = gate();
    const head = { ...other, record: { ...other.record, effort: "quick" as const } };
    const html = renderCompareHtml(await compared([gate()], head, true));
    expect(html.indexOf("Comparison forced")).toBeLessThan(html.indexOf("<h1"));
    expect(html.indexOf("Comparison forced")).toBeGreaterThan(0);
  });
});

describe("the page of load runs", () => {
  it("overlays the distributions of two runs with the change of each percentile, without judging them", async () => {
    const html = renderCompareHtml(await compared([await load({ seed: 1 })], await load({ seed: 2 })));
    expect(headlineIn(html)).toBe("No metric is judged worse.");
    const endpoints = countOf(html, "head-hill");
    expect(endpoints).toBeGreaterThan(0);
    expect(countOf(html, "base-hill")).toBe(endpoints);
    expect(textOf(html)).toContain("Speed is shown, not judged: one run cannot tell a change from chance");
    expect(textOf(html)).toMatch(/p95 \d[\d.]* m?s to \d/);
  });

  it("draws the limits from ten earlier runs, and marks metrics beyond them", async () => {
    const bases = await Promise.all(
      Array.from({ length: 10 }, (_, seed) => load({ seed: seed + 1, seconds: 4, requests: 300 })),
    );
    const head = await load({ seed: 99, seconds: 4, requests: 300 });
    if (head.kind !== "load") throw new Error("it is no load run");
    const slower = head.record.endpoints.map((row) => ({
      ...row,
      response: { ...row.response, p50Ms: 9 * row.response.p50Ms },
    }));
    const html = renderCompareHtml(
      await compared(bases, { ...head, record: { ...head.record, endpoints: slower } }),
    );
    expect(headlineIn(html)).toBe("The head run is worse than the base.");
    expect(countOf(html, "change-dot regressed")).toBeGreaterThan(0);
    expect(textOf(html)).toMatch(/Against 10 earlier runs .* slower/);
  });
});
