import { isUntold } from "../compare/rules.ts";
import type { ComparedRule } from "../compare/shape.ts";
import type { Comparison } from "../compare/shape.ts";
import { isWorse } from "../compare/limits.ts";
import {
  duetExitCode,
  whyDuetIncomplete,
  type DuetDocument,
  type Failures,
  type Member,
  type MemberVerdict,
} from "../duet/document.ts";
import { plural, change, latency, inUnit } from "../text/figures.ts";
import { wordOfResult } from "../text/verdicts.ts";
import { suiteOf, type CiCase, type CiSuite, type RawCase } from "./cases.ts";

/*
 * A comparison as test cases: worse is a failure, what could not be compared is skipped, the rest passes and says what
 * changed. The cases have no times.
 */

const caseOf = (
  name: string,
  group: string,
  status: CiCase["status"],
  verdict: string,
  message?: string,
): RawCase => ({ name, group, status, verdict, message });

export const comparisonSuite = (comparison: Comparison, exitCode: number): CiSuite => {
  const { base, head, lacking, differences, verdict } = comparison;
  return suiteOf({
    name: "comparison",
    outcome: verdict,
    incomplete: verdict === "incomplete" ? "the two runs did not complete the same checks" : undefined,
    exitCode,
    startedAt: head.startedAt,
    tool: head.tool,
    run: `${base.directory} and ${head.directory}`,
    target: `${head.target} ${head.baseUrl}`,
    cases: [
      ...(comparison.kind === "conform" ? ruleCases(comparison) : loadCases(comparison)),
      ...differences.map((one) =>
        caseOf(one.part, "forced: not the same checks", "skipped", "incomplete", `${one.base} / ${one.head}`),
      ),
      ...lacking.map(({ side, what, why }) =>
        caseOf(`${side}: ${what}`, "not checked on both sides", "skipped", "incomplete", why),
      ),
    ],
  });
};

const ruleStatus = ({ change, regresses }: ComparedRule): CiCase["status"] => {
  if (regresses) return "failed";
  return isUntold(change) ? "skipped" : "passed";
};

const ruleCases = ({ rules }: Extract<Comparison, { kind: "conform" }>): readonly RawCase[] => [
  ...rules.changes.map((one) => {
    const why = one.reason ?? (one.actual === undefined ? undefined : `${one.expected}; seen: ${one.actual}`);
    const said = `${one.change}: ${wordOfResult(one.base)} before, ${wordOfResult(one.head)} now${why === undefined ? "" : `; ${why}`}`;
    return caseOf(one.id, "rules", ruleStatus(one), one.change, said);
  }),
  ...rules.drift.map(({ id, base, head, pinned }) =>
    caseOf(
      `${id} (observed)`,
      "observations",
      pinned ? "failed" : "passed",
      pinned ? "drifted" : "changed",
      `was ${base}, is ${head}`,
    ),
  ),
  caseOf(`${plural(rules.unchanged, "rule")} unchanged`, "rules", "passed", "unchanged"),
];

const loadCases = ({ load, limits, unjudged }: Extract<Comparison, { kind: "load" }>): readonly RawCase[] => [
  ...load.rules.map(({ id, change, baseBreaches, headBreaches }) =>
    caseOf(
      id,
      "promises",
      change === "newly failing" ? "failed" : isUntold(change) ? "skipped" : "passed",
      change,
      `${plural(baseBreaches, "breach", "breaches")} before, ${headBreaches} now`,
    ),
  ),
  ...load.objectives.map(({ objective: { name, bound, limit, unit }, change, base, head }) =>
    caseOf(
      `objective ${name}`,
      "objectives",
      change === "newly missed" ? "failed" : "passed",
      change,
      `${bound} ${inUnit(limit, unit)}; ${inUnit(base, unit)} before, ${inUnit(head, unit)} now`,
    ),
  ),
  ...(limits?.metrics ?? []).map((one) => {
    const { endpoint, metric, usual, low, high, head, verdict } = one;
    const said = (value: number): string =>
      metric === "failed share" ? inUnit(value, "share") : latency(value);
    return caseOf(
      `${endpoint} ${metric}`,
      "speed",
      isWorse(one) ? "failed" : "passed",
      verdict,
      `${said(head)}; usually ${said(usual)}, limits ${said(low)} to ${said(high)}`,
    );
  }),
  ...(unjudged === undefined ? [] : [caseOf("speed", "speed", "skipped", "not judged", unjudged)]),
];

const memberStatus: Readonly<Record<MemberVerdict, CiCase["status"]>> = {
  regressed: "failed",
  improved: "passed",
  unchanged: "passed",
  inconclusive: "skipped",
};

const memberCase = ({ endpoint, metric, ratio, interval, verdict }: Member): readonly RawCase[] => {
  if (verdict === undefined) return [];
  const range = interval === undefined ? "" : `, 95 % interval ${interval.map(change).join(" to ")}`;
  const said = `${change(ratio)} of b against a${range}`;
  return [caseOf(`${endpoint} ${metric}`, "speed", memberStatus[verdict], verdict, said)];
};

const failuresCase = ({ a, b, verdict }: Failures): RawCase =>
  caseOf(
    "failed requests",
    "failures",
    memberStatus[verdict],
    verdict,
    `${inUnit(b, "share")} of b, ${inUnit(a, "share")} of a`,
  );

export const duetSuite = (duet: DuetDocument, run: string): CiSuite => {
  const whyIncomplete = whyDuetIncomplete(duet);
  return suiteOf({
    name: "duet",
    outcome: duet.state === "ended" ? duet.verdict : duet.state,
    incomplete: whyIncomplete ?? (duet.verdict === "inconclusive" ? "the duet cannot tell" : undefined),
    exitCode: duetExitCode(duet),
    startedAt: duet.startedAt,
    tool: duet.tool,
    run,
    target: `${duet.a} and ${duet.b}`,
    seed: duet.seed,
    cases: [
      ...(whyIncomplete === undefined
        ? []
        : [caseOf("the duet is complete", "duet", "skipped", "incomplete", whyIncomplete)]),
      ...duet.members.flatMap(memberCase),
      ...(duet.failures === undefined ? [] : [failuresCase(duet.failures)]),
      ...duet.broken.map(({ side, rule, times }) =>
        caseOf(
          `${rule} (${side})`,
          "promises",
          side === "b" ? "failed" : "passed",
          "broken",
          `broken ${plural(times, "time")}`,
        ),
      ),
    ],
  });
};
