import { catalogue, type RequirementId, requirementIds } from "../../conformance/contract/catalogue.ts";
import { groups, levels, type Requirement } from "../../conformance/contract/requirement.ts";
import { plural } from "../text/figures.ts";
import { groupTitles, levelMeanings, sectionsOf } from "../text/verdicts.ts";
import {
  doc,
  lines,
  listSection,
  soft,
  strong,
  type Doc,
  type Section,
  section,
  type Look,
  mark,
  table,
  facts,
  list,
  text,
  type Fact,
} from "./model.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import { whyOpen } from "../../conformance/contract/verdict.ts";
import { breachCard } from "./gate-rules.ts";
import type { Check } from "../../conformance/contract/check.ts";

interface KnownDefect {
  readonly name: string;
  readonly summary: string;
}

const requirementOf = (id: RequirementId): Requirement => catalogue[id];

export const catalogueDoc = (): Doc =>
  doc({
    title: "The catalogue of requirements",
    look: ["seen", "ring"],
    headline: `${requirementIds.length} requirements in ${groups.length} groups.`,
    about: levels.map((level): Fact => {
      const count = requirementIds.filter((id) => requirementOf(id).level === level).length;
      return [`${count} ${level}`, levelMeanings[level]];
    }),
    sections: groups.map((group) =>
      section(
        group,
        groupTitles[group],
        list(
          requirementIds
            .filter((id) => requirementOf(id).group === group)
            .map((id) => {
              const { level, sections, sentence } = requirementOf(id);
              return lines([strong(id), soft(`  ${level}, ${sections.join(", ")}`)], soft(sentence));
            }),
        ),
      ),
    ),
    source: "the catalogue",
  });

export const ruleDoc = (id: RequirementId, defects: readonly KnownDefect[]): Doc => {
  const known = requirementOf(id);
  const readings = Object.entries(known.readings ?? {});
  const named = (entries: readonly (readonly [name: string, sentence: string])[]) =>
    list(entries.map(([name, sentence]) => lines(strong(name), soft(sentence))));
  return doc({
    title: id,
    look: ["seen", "ring"],
    headline: `${id}: ${known.level}`,
    detail:
      defects.length === 0
        ? "No seeded defect breaks this rule."
        : `Broken by ${plural(defects.length, "seeded defect")}.`,
    sections: [
      section(
        "rule",
        id,
        text(known.sentence),
        facts([
          ["Level", `${known.level}: ${levelMeanings[known.level]}`],
          ["From", `${sectionsOf(known)} of the service's document`],
          known.level === "derived" && ["Because", known.derivation],
          known.level === "advisory" && ["Clause", known.clause],
          known.level === "untestable" && ["Because", known.reason],
          ["Judged", known.judged],
        ]),
      ),
      section("readings", "Readings", named(readings)),
      section("defects", "Seeded defects", named(defects.map(({ name, summary }) => [name, summary]))),
    ],
    source: "the catalogue",
  });
};

const lookOfCheck = ({ ok }: Check): Look => {
  if (ok === "skipped") return ["none", "dash"];
  return ok ? ["good", "check"] : ["bad", "cross"];
};

export const doctorDoc = (checks: readonly Check[]): Doc => {
  const failed = checks.filter(({ ok }) => ok === false);
  return doc({
    title: "Preflight of the profile",
    look: failed.length === 0 ? ["good", "check"] : ["bad", "cross"],
    headline: headlineOf(checks, failed),
    sections: [
      section(
        "checks",
        "Checks",
        table(
          "Checks",
          ["Check", "Findings"],
          checks.map((one) => [
            mark(lookOfCheck(one), one.check),
            lines(
              one.message,
              one.remedy !== undefined && (one.ok === false ? strong : soft)(`→ ${one.remedy}`),
            ),
          ]),
        ),
      ),
    ],
    source: "the profile",
  });
};

const headlineOf = (checks: readonly Check[], failed: readonly Check[]): string => {
  const skipped = checks.filter(({ ok }) => ok === "skipped").length;
  const left = skipped === 0 ? "" : `, ${skipped} skipped`;
  if (failed.length === 0) return `Ready: ${plural(checks.length - skipped, "check")} passed${left}.`;
  const then = failed.some((check) => check.fatal !== undefined)
    ? "a run cannot start"
    : "some rules will not run";
  return `${plural(failed.length, "check")} of ${checks.length} failed${left}; ${then}.`;
};

export interface ReplayResult {
  readonly answer: "still fails" | "fixed" | "could not run";
  readonly result: RuleResult;
}

const looks: Readonly<Record<ReplayResult["answer"], Look>> = {
  "still fails": ["bad", "cross"],
  fixed: ["good", "check"],
  "could not run": ["open", "slash"],
};

export const replayDoc = (
  { answer, result }: ReplayResult,
  { run, program }: { readonly run: string; readonly program: string },
): Doc =>
  doc({
    title: `${result.id} of ${run}`,
    look: looks[answer],
    headline: `${result.id}: ${answer}`,
    detail: whyOpen(result.verdict),
    sections: [
      section("breach", "The breach", ...breachCard(result, run, { prefix: "", program, isShort: false })),
    ],
    source: run,
  });

export interface ListedBehaviour {
  readonly name: string;
  readonly summary: string;
  readonly kind: "sound" | "defect" | "variant";
  readonly breaks: readonly RequirementId[];
}

export const behavioursWith = (all: readonly ListedBehaviour[], text: string): readonly ListedBehaviour[] => {
  const wanted = text.toLowerCase();
  return all.filter(({ name, summary, breaks }) =>
    [name, summary, ...breaks].some((part) => part.toLowerCase().includes(wanted)),
  );
};

export const behavioursDoc = (behaviours: readonly ListedBehaviour[]): Doc => {
  const of = (kind: ListedBehaviour["kind"]): readonly ListedBehaviour[] =>
    behaviours.filter((one) => one.kind === kind);
  const defects = Map.groupBy(of("defect"), ({ breaks: [first] }) =>
    first === undefined ? "untestable" : catalogue[first].group,
  );
  return doc({
    title: "Behaviours of the fake service",
    look: ["seen", "ring"],
    headline: `${plural(behaviours.length, "behaviour")}: ${plural(of("defect").length, "defect")}, ${plural(of("variant").length, "variant")}`,
    sections: [
      part("sound", "Keeps every promise", of("sound")),
      ...groups.map((group) => part(group, `Defects: ${groupTitles[group]}`, defects.get(group) ?? [])),
      part("variants", "Variants: different but conforming", of("variant")),
    ],
    source: "the fake service",
  });
};

const part = (id: string, title: string, behaviours: readonly ListedBehaviour[]): Section =>
  listSection(
    id,
    title,
    behaviours.map(({ name, summary, breaks }) =>
      lines(strong(name), soft(summary), breaks.length > 0 && soft(`breaks ${breaks.join(", ")}`)),
    ),
  );
