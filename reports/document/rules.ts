import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { groups, levels, type Requirement } from "../../conformance/contract/requirement.ts";
import { plural } from "../text/figures.ts";
import { groupTitles, levelMeanings, sectionsOf } from "../text/titles.ts";
import { doc, facts, lines, list, section, soft, strong, text, type Doc, type Fact } from "./model.ts";

export interface KnownDefect {
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
