import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { leavesOpen } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { plural } from "../text/figures.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import { activeWaivers, failingWaivers } from "../text/waivers.ts";
import { passedHeadline, took } from "./run.ts";

export const gateHeadline = (record: RunRecord): string => {
  const excused = activeWaivers(record);
  switch (record.outcome) {
    case "passed":
      return passedHeadline(
        record,
        excused.size === 0
          ? "Every required rule ran and held"
          : `Every required rule ran and held, except for ${plural(excused.size, "waived breach", "waived breaches")}`,
      );
    case "failed":
      return failedHeadline(record);
    case "incomplete":
      if (record.exitCode === exitCodes.unreachable) return "The target could not be reached.";
      return `Nothing broke, but ${plural(openRules(record).length, "rule")} could not be judged.`;
    case "drifted":
      return "Every required rule held, but a pinned observation changed.";
    case "harness-error":
      return "Touchstone itself failed; this says nothing about the service.";
    default:
      return "The run was cut off; these are the results until then.";
  }
};

const failedHeadline = (record: RunRecord): string => {
  const excused = activeWaivers(record);
  const count = (kind: "failed" | "warned"): number =>
    record.rules.filter(({ id, verdict }) => verdict.kind === kind && !excused.has(id)).length;
  if (count("failed") > 0) return `${plural(count("failed"), "promise is", "promises are")} broken.`;
  if (record.strict && count("warned") > 0)
    return `${plural(count("warned"), "advisory rule")} warned, which fails a strict run.`;
  return `${plural(failingWaivers(record).length, "waiver is", "waivers are")} out of date.`;
};

export const openRules = ({ rules }: RunRecord): readonly RuleResult[] =>
  rules.filter(({ verdict }) => leavesOpen(verdict));

export const gateDetail = (record: RunRecord): string => {
  const excused = activeWaivers(record);
  const counts = verdictOrder.flatMap((kind) => {
    const of = record.rules.filter(({ verdict }) => verdict.kind === kind);
    const waived = of.filter(({ id }) => excused.has(id)).length;
    return of.length === 0
      ? []
      : [`${of.length} ${wordOf(kind)}${waived === 0 ? "" : ` (${waived} waived)`}`];
  });
  const cases = record.rules.reduce((sum, { verdict }) => sum + casesOf(verdict), 0);
  return [
    `${counts.join(", ") || "No rule was judged"}; ${plural(cases, "case")}${took(record)}.`,
    ...flakiness(record),
    ...(record.exitCode === undefined ? [] : [`Exit code ${record.exitCode}.`]),
  ].join(" ");
};

const flakiness = ({ rules }: RunRecord): readonly string[] => {
  const breaches = rules.flatMap(({ verdict }) => (verdict.kind === "failed" ? [verdict.breach] : []));
  const flaky = breaches.filter(
    ({ reproduction: { replayed } }) => replayed.failures < replayed.attempts,
  ).length;
  return flaky === 0 ? [] : [`${flaky} of ${plural(breaches.length, "breach", "breaches")} flaky.`];
};
