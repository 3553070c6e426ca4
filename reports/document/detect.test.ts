import { describe, expect, it } from "vitest";
import { requirementIds } from "../../conformance/contract/catalogue.ts";
import type { DetectReport } from "../../conformance/contract/detect.ts";
import { onTerminal } from "../testing/shown.ts";
import { detectDoc, interruptedDetection } from "./detect.ts";

const render = (report: DetectReport): string => onTerminal(detectDoc(report), 80);

const clean: DetectReport = {
  effort: "quick",
  seed: 7,
  durationMs: 48_210,
  defects: {
    total: 3,
    killed: 3,
    survivors: [],
    kills: [
      { defect: "state-lower-cased", rule: "authorize.echoes-state", cases: 3 },
      { defect: "state-trimmed", rule: "authorize.echoes-state", cases: 1_204 },
      { defect: "code-reusable", rule: "code.single-use", cases: 1 },
    ],
  },
  variants: { total: 34, judged: 34, falseAlarms: [], unsettled: [] },
};

/** The totals at the end of a report on detection. */
const ends = (text: string): string => text.trimEnd().split("\n\n").at(-1) ?? "";

describe("detect", () => {
  it("prints for each rule which defects it killed and with how many cases", () => {
    const text = render(clean);
    expect(text.slice(0, text.indexOf("Not broken by any defect"))).toMatchInlineSnapshot(`
      "Effort              quick
      Took                48.2 s
      Seed                7
      Beside each defect  the cases the rule had judged when it failed

      Authorize
        ✓ authorize.echoes-state  2 of 2 defects
          state-lower-cased 3 · state-trimmed 1,204

      Authorization code
        ✓ code.single-use  1 of 1 defect
          code-reusable 1

      "
    `);
    expect(ends(text)).toMatchInlineSnapshot(`"✓ 3 of 3 defects killed; no false alarm on 34 variants"`);
  });

  it("lists only the gating rules that no defect breaks", () => {
    const [, listed = ""] = /Not broken by any defect \((?:\d+)\)\n([^]*?)\n\n/.exec(render(clean)) ?? [];
    const ids = listed.trim().split(/,\s+/);
    expect(ids).toContain("refresh.lifetime");
    expect(ids).not.toContain("code.single-use");
    expect(ids).not.toContain("authorize.redirect");
  });

  it("lists survivors, false alarms and undecided variants", () => {
    const report: DetectReport = {
      ...clean,
      defects: {
        ...clean.defects,
        killed: 2,
        survivors: [{ name: "code-lives-a-second-longer", rule: "code.lifetime", verdict: "passed" }],
      },
      variants: {
        total: 34,
        judged: 34,
        falseAlarms: [
          {
            variant: "clock-skewed",
            rule: "access.lifetime",
            expected: "it works for 2 h",
            actual: "refused\u202e",
          },
        ],
        unsettled: [
          { variant: "slow", rule: "refresh.reusable", verdict: "inconclusive", reason: "no answer" },
        ],
      },
    };
    const text = render(report);
    expect(text).toContain("code-lives-a-second-longer survived");
    expect(text.slice(text.indexOf("Survivors"))).toMatchInlineSnapshot(`
      "Survivors (1)
        ✗ code-lives-a-second-longer  code.lifetime: passed

      False alarms (1)
        ✗ clock-skewed  access.lifetime
          Expected  it works for 2 h
          Seen      refused\\u202e

      Undecided on a variant (1)
        ? refresh.reusable: inconclusive
          no answer
          slow

      ✗ 2 of 3 defects killed; 1 false alarm, on 1 variant among 34 variants; 1
      verdict undecided
      "
    `);
  });

  it("has no tick where a verdict on a variant is undecided, which ends with exit code 3", () => {
    const unsettled = [{ variant: "slow", rule: "refresh.reusable", verdict: "inconclusive" }] as const;
    const report: DetectReport = { ...clean, variants: { ...clean.variants, unsettled } };
    expect(ends(render(report))).toMatchInlineSnapshot(
      `"? 3 of 3 defects killed; no false alarm on 34 variants; 1 verdict undecided"`,
    );
  });

  it("states what a run that was cut short did not try", () => {
    const report: DetectReport = { ...clean, defects: { ...clean.defects, total: 339 } };
    expect(ends(render(report))).toMatchInlineSnapshot(`
      "? 3 of 339 defects killed, 336 not tried; no false alarm on 34 variants
      The run was cut short; untried defects prove nothing."
    `);
    const counted = { ...clean, variants: { ...clean.variants, judged: 12 } };
    expect(ends(render(counted))).toMatchInlineSnapshot(`
      "? 3 of 3 defects killed; no false alarm on 12 of 34 variants
      The run was cut short; untried defects prove nothing."
    `);
  });

  it("is one line for an interrupted run", () => {
    const report = {
      ...clean,
      defects: { ...clean.defects, total: 339 },
      variants: { ...clean.variants, judged: 12 },
    };
    expect(interruptedDetection(report)).toBe(
      "Interrupted after 3 of 339 defects and 12 of 34 variants; seed 7. This proves nothing.\n",
    );
  });

  it("lists for each defect of the matrix the rules that did not pass", () => {
    const verdicts = Object.fromEntries(requirementIds.map((id) => [id, "passed"])) as Record<
      string,
      "passed"
    >;
    const report: DetectReport = {
      ...clean,
      matrix: [
        {
          defect: "state-trimmed",
          breaks: ["authorize.echoes-state", "authorize.state-charset"],
          verdicts: {
            ...verdicts,
            "authorize.answers-with-code": "inconclusive",
            "authorize.echoes-state": "failed",
            "authorize.state-length": "failed",
          },
        },
        { defect: "a-defect-that-nothing-sees", breaks: [], verdicts },
      ],
    };
    const text = render(report);
    const all = requirementIds.length;
    expect(text.slice(text.indexOf("All defects"), text.indexOf("✓ 3 of 3"))).toBe(
      [
        "All defects against all rules (2)",
        `  - state-trimmed  ${all - 4} of ${all} rules held`,
        "    failed as declared: authorize.echoes-state",
        "    declared but did not fail: authorize.state-charset",
        "    failed too: authorize.state-length",
        "    not settled: authorize.answers-with-code",
        `  - a-defect-that-nothing-sees  ${all} of ${all} rules held`,
        "",
        "",
      ].join("\n"),
    );
  });
});
