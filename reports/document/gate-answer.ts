import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { isGating, leavesOpen } from "../../conformance/contract/outcome.ts";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { plural } from "../text/figures.ts";
import { verdictOrder, wordOf, activeWaivers, failingWaivers } from "../text/verdicts.ts";
import { passedHeadline, took } from "./run.ts";

export const gateHeadline = (record: RunRecord): string => {
  switch (record.outcome) {
    case "passed":
      return passedHeadline(record, whatHeld(record));
    case "failed":
      return failedHeadline(record);
    case "incomplete":
      if (record.exitCode === exitCodes.unreachable) return "The target could not be reached.";
      return `Nothing broke${exceptWaived(record)}, but ${plural(openRules(record).length, "rule")} could not be judged.`;
    case "drifted":
      return `${whatHeld(record)}, but a pinned observation changed.`;
    case "harness-error":
      return "Touchstone itself failed; this says nothing about the service.";
    default:
      return "The run was cut off; these are the results until then.";
  }
};

/** What a run without a new breach or an open rule shows: of no more rules than were selected. */
const whatHeld = (record: RunRecord): string => {
  const { selected, rules } = record;
  const required = requirementIds.filter(isRequired);
  const isSelected = new Set<string>(selected);
  const of = required.filter((id) => isSelected.has(id)).length;
  if (of > 0)
    return `Every ${of < required.length ? "selected " : ""}required rule ran and held${exceptWaived(record)}`;
  const warned = rules.filter(({ verdict }) => verdict.kind === "warned").length;
  return `Every selected rule ran, none of which is required${warned === 0 ? "" : `, and ${warned} warned`}`;
};

const isRequired = (id: RequirementId): boolean => isGating(catalogue[id].level);

const exceptWaived = (record: RunRecord): string => {
  const { size } = activeWaivers(record);
  return size === 0 ? "" : `, except for ${plural(size, "waived breach", "waived breaches")}`;
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
