import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import type { DetectReport, MatrixRow } from "../../conformance/contract/detect.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { elapsed, figure, plural } from "../text/figures.ts";
import { groupTitles, wordOf } from "../text/verdicts.ts";
import {
  lookOf,
  code,
  doc,
  facts,
  lines,
  list,
  listSection,
  mark,
  section,
  soft,
  softText,
  strong,
  type Card,
  type Doc,
  type Look,
  type Section,
  type Text,
} from "./model.ts";

const good: Look = ["good", "check"];
const bad: Look = ["bad", "cross"];

export const detectDoc = (report: DetectReport): Doc => {
  const { defects, variants, effort, seed, durationMs } = report;
  const isWhole = untriedDefects(report) === 0 && variants.judged === variants.total;
  const isSound = defects.survivors.length + variants.falseAlarms.length === 0;
  return doc({
    title: `Detection at ${effort} effort`,
    look: isSound ? (isWhole && variants.unsettled.length === 0 ? good : ["open", "question"]) : bad,
    headline: `${defectsText(report)}; ${variantsText(report)}`,
    detail: isWhole ? "" : "The run was cut short; untried defects prove nothing.",
    about: [
      ["Effort", effort],
      ["Took", elapsed(durationMs)],
      ["Seed", code(String(seed))],
      ["Beside each defect", "the cases the rule had judged when it failed"],
    ],
    sections: [
      ...groups.map((group) => killed(report, group)),
      unproven(report),
      survivors(report),
      falseAlarms(report),
      unsettled(report),
      matrix(report),
    ],
    source: `${plural(defects.total, "defect")} and ${plural(variants.total, "variant")}`,
  });
};

/** One line for an interrupted run: it proves nothing, so it lists nothing. */
export const interruptedDetection = (report: DetectReport): string => {
  const { defects, variants } = report;
  const tried = defects.total - untriedDefects(report);
  return `Interrupted after ${figure(tried)} of ${plural(defects.total, "defect")} and ${figure(variants.judged)} of ${plural(variants.total, "variant")}; seed ${report.seed}. This proves nothing.\n`;
};

const isBroken = ({ defects }: DetectReport, id: RequirementId): boolean =>
  [...defects.kills, ...defects.survivors].some(({ rule }) => rule === id);

const killed = (report: DetectReport, group: (typeof groups)[number]): Section => {
  const ids = requirementIds.filter((id) => catalogue[id].group === group && isBroken(report, id));
  return section(group, groupTitles[group], list(ids.map((id) => killsOf(report, id))));
};

const killsOf = ({ defects }: DetectReport, id: RequirementId): Text => {
  const kills = defects.kills.filter(({ rule }) => rule === id);
  const survived = defects.survivors.filter(({ rule }) => rule === id);
  const all = kills.length + survived.length;
  return lines(
    [mark(survived.length > 0 ? bad : good, [id]), soft(`  ${kills.length} of ${plural(all, "defect")}`)],
    [
      ...survived.map(({ name }) => strong(`${name} survived `)),
      kills.map(({ defect, cases }) => `${defect} ${figure(cases)}`).join(" · "),
    ],
  );
};

/** Rules that fail the gate but that no declared defect breaks: nothing shows that they detect anything. */
const unproven = (report: DetectReport): Section => {
  const ids = requirementIds.filter(
    (id) => ["required", "derived"].includes(catalogue[id].level) && !isBroken(report, id),
  );
  return section(
    "unproven",
    `Not broken by any defect (${ids.length})`,
    ids.length > 0 && softText(ids.join(", ")),
  );
};

const survivors = ({ defects }: DetectReport): Section =>
  listSection(
    "survivors",
    "Survivors",
    defects.survivors.map(({ name, rule, verdict, reason }) =>
      lines([mark(bad, name), soft(`  ${rule}: ${wordOf(verdict)}`)], reason),
    ),
  );

const falseAlarms = ({ variants }: DetectReport): Section =>
  section(
    "false-alarms",
    `False alarms (${variants.falseAlarms.length})`,
    ...variants.falseAlarms.map(({ variant, rule, expected, actual }): Card => ({
      is: "card",
      tone: "failed",
      header: mark(bad, strong(variant), "false alarm"),
      beside: rule,
      blocks: [
        facts([
          ["Expected", expected],
          ["Seen", actual],
        ]),
      ],
    })),
  );

const unsettled = ({ variants }: DetectReport): Section => {
  const open = variants.unsettled;
  const causes = Map.groupBy(open, ({ rule, verdict, reason }) => JSON.stringify([rule, verdict, reason]));
  return section(
    "unsettled",
    `Undecided on a variant (${open.length})`,
    list(
      [...causes.values()].flatMap(([one, ...others]) =>
        one === undefined
          ? []
          : lines(
              mark(lookOf[one.verdict], `${one.rule}: ${wordOf(one.verdict)}`),
              one.reason,
              soft([one, ...others].map(({ variant }) => variant).join(" · ")),
            ),
      ),
    ),
  );
};

/** Every defect against every rule: rules not named beside a defect held. */
const matrix = ({ matrix: rows = [] }: DetectReport): Section =>
  listSection("matrix", "All defects against all rules", rows.map(matrixItem));

const matrixItem = ({ defect, breaks, verdicts }: MatrixRow): Text => {
  const judged = requirementIds.flatMap((id) => {
    const verdict = verdicts[id];
    return verdict === undefined ? [] : [{ id, verdict, isDeclared: breaks.includes(id) }];
  });
  const named = (words: string, some: typeof judged): string | undefined =>
    some.length === 0 ? undefined : `${words}: ${some.map(({ id }) => id).join(", ")}`;
  const isFailed = ({ verdict }: { readonly verdict: VerdictKind }): boolean =>
    ["failed", "warned"].includes(verdict);
  const isHeld = ({ verdict }: { readonly verdict: VerdictKind }): boolean =>
    ["passed", "observed"].includes(verdict);
  const declared = judged.filter(({ isDeclared }) => isDeclared);
  const others = judged.filter(({ isDeclared }) => !isDeclared);
  return lines(
    [strong(defect), soft(`  ${others.filter(isHeld).length} of ${plural(judged.length, "rule")} held`)],
    named("failed as declared", declared.filter(isFailed)),
    named(
      "declared but did not fail",
      declared.filter((one) => !isFailed(one)),
    ),
    named("failed too", others.filter(isFailed)),
    named(
      "not settled",
      others.filter((one) => !isFailed(one) && !isHeld(one)),
    ),
  );
};

/** Defects neither killed nor survived were never tried: the run was cut short. */
const untriedDefects = ({ defects }: DetectReport): number =>
  defects.total - defects.killed - new Set(defects.survivors.map(({ name }) => name)).size;

const defectsText = (report: DetectReport): string => {
  const { total, killed: count } = report.defects;
  const untried = untriedDefects(report);
  return `${figure(count)} of ${plural(total, "defect")} killed${untried > 0 ? `, ${figure(untried)} not tried` : ""}`;
};

/** Counts only variants that were judged. */
const variantsText = ({
  variants: { total, judged, falseAlarms, unsettled: undecided },
}: DetectReport): string => {
  const alarmed = new Set(falseAlarms.map(({ variant }) => variant)).size;
  const of = `${judged === total ? "" : `${figure(judged)} of `}${plural(total, "variant")}`;
  const open = undecided.length === 0 ? "" : `; ${plural(undecided.length, "verdict")} undecided`;
  return alarmed === 0
    ? `no false alarm on ${of}${open}`
    : `${plural(falseAlarms.length, "false alarm")}, on ${plural(alarmed, "variant")} among ${of}${open}`;
};
