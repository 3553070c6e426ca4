import { catalogue, isRequirementId, requirementIds } from "../../conformance/contract/catalogue.ts";
import { isBroken, isJudged, type Case } from "../../conformance/contract/cases.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { isGating } from "../../conformance/contract/outcome.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { plural } from "../text/figures.ts";
import { activeWaivers, verdictOrder, wordOf } from "../text/verdicts.ts";
import { given } from "./model.ts";
import { isUnwritten, took } from "./run.ts";

type AnyRecord = RunRecord | LoadRecord;

/** What a run found, in a sentence made of its judged items. */
export const headlineOf = (record: AnyRecord): string => {
  const { outcome, exitCode, cases } = record;
  const broken = cases.filter((one) => one.verdict === "failed" && one.status === "failed" && isRule(one));
  switch (outcome) {
    case "passed": {
      const said = rampFound(cases) ?? `${whatHeld(record)}.`;
      return isUnwritten(record)
        ? `${said.slice(0, -1)}, but the record or a report could not be written.`
        : said;
    }
    case "failed":
      return (broken.length === 0 ? rampFound(cases) : undefined) ?? whatFailed(record, broken.length);
    case "drifted":
      return `${whatHeld(record)}, but a pinned observation changed.`;
    case "incomplete":
      return exitCode === exitCodes.unreachable ? "The target could not be reached." : whatIsOpen(record);
    case "harness-error":
      return "Touchstone itself failed; this says nothing about the service.";
    default:
      return broken.length > 0
        ? `The run was cut off; ${plural(broken.length, "promise")} broke until then.`
        : "The run was cut off; these are the results until then.";
  }
};

const isRule = ({ id }: Case): boolean => isRequirementId(id);

const rampFound = (cases: readonly Case[]): string | undefined =>
  cases.find(({ id }) => id === "the ramp found a rate")?.seen;

/** What a run without a new breach or an open rule shows: of no more rules than were selected. */
const whatHeld = (record: AnyRecord): string => {
  if (record.command === "load")
    return record.objectives.length > 0
      ? "Promises and objectives held under load"
      : "Promises held under load";
  const required = requirementIds.filter((id) => isGating(catalogue[id].level));
  const isSelected = new Set<string>(record.selected);
  const of = required.filter((id) => isSelected.has(id)).length;
  if (of > 0)
    return `Every ${of < required.length ? "selected " : ""}required rule ran and held${exceptWaived(record)}`;
  const warned = record.cases.filter(({ verdict }) => verdict === "warned").length;
  return `Every selected rule ran, none of which is required${warned === 0 ? "" : `, and ${warned} warned`}`;
};

const exceptWaived = ({ cases }: AnyRecord): string => {
  const waived = cases.filter((one) => one.status === "skipped" && isBroken(one)).length;
  return waived === 0 ? "" : `, except for ${plural(waived, "waived breach", "waived breaches")}`;
};

const whatFailed = ({ command, cases }: AnyRecord, broken: number): string => {
  const failed = cases.filter(({ status }) => status === "failed");
  const missed = failed.filter(({ group }) => group === "objectives").length;
  const said = given([
    broken > 0 &&
      (command === "load"
        ? `${plural(broken, "promise")} broke under load`
        : `${plural(broken, "promise is", "promises are")} broken`),
    missed > 0 && `${plural(missed, "objective was", "objectives were")} missed`,
  ]);
  if (said.length > 0) return `${said.join(", and ")}.`;
  const warned = failed.filter(({ verdict }) => verdict === "warned").length;
  if (warned > 0) return `${plural(warned, "advisory rule")} warned, which fails a strict run.`;
  const waivers = failed.filter(({ group }) => group === "waivers").length;
  return waivers > 0
    ? `${plural(waivers, "waiver is", "waivers are")} out of date.`
    : `The load failed: ${failed[0]?.seen ?? "it did not run to its end"}.`;
};

const MOST_NAMED = 3;

/** The figures of a valid load stand, even if something was left open. */
const whatIsOpen = (record: AnyRecord): string => {
  const open = record.cases.filter((one) => one.open === true);
  const ofLoad = open.find(({ group }) => group === "load");
  if (ofLoad?.verdict === "not valid") return "The load run is not valid: its figures say nothing.";
  if (ofLoad !== undefined) return `The load was not judged: ${ofLoad.seen ?? ofLoad.verdict}.`;
  const isObjective = open[0]?.group === "objectives";
  // In a gate, what need not be judged and was not is counted, too.
  const unjudged = isObjective
    ? open
    : record.cases.filter((one) => one.status === "skipped" && !isJudged(one) && isRule(one));
  const names = isObjective || record.command === "load" ? `: ${named(unjudged)}` : "";
  return `Nothing broke${exceptWaived(record)}, but ${plural(unjudged.length, isObjective ? "objective" : "rule")} could not be judged${names}.`;
};

const named = (some: readonly Case[]): string => {
  const names = some.slice(0, MOST_NAMED).map(({ id }) => id.replace(/^objective /, ""));
  return `${names.join(", ")}${some.length > MOST_NAMED ? ` and ${some.length - MOST_NAMED} more` : ""}`;
};

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
