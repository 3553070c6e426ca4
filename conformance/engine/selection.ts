import { catalogue, isRequirementId, requirementIds, type RequirementId } from "../contract/catalogue.ts";
import { nearest } from "../contract/text.ts";
import { groups, levels, type Group, type Level } from "../contract/requirement.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { Rule } from "../checks/rule.ts";

/** Which rules a run judges; absent parts do not narrow the selection. */
export interface Selection {
  readonly only?: readonly string[] | undefined;
  readonly sections?: readonly string[] | undefined;
  readonly levels?: readonly string[] | undefined;
}

/**
 * The selected rules. Throws ConfigurationError for an id, section or level that does not exist, and if nothing is left
 * to judge.
 */
export const selectRules = (rules: readonly Rule[], selection: Selection): readonly Rule[] => {
  const documentSections = new Set(
    requirementIds.flatMap((id) => catalogue[id].sections as readonly string[]),
  );
  const problems = [
    ...(selection.only ?? []).flatMap(unknownId),
    ...(selection.sections ?? [])
      .filter((name) => !groups.includes(name as Group) && !documentSections.has(name))
      .map(
        (name) =>
          `--section ${name}: no such section; accepted are ${groups.join(", ")} and the document's ${[...documentSections].toSorted().join(", ")}`,
      ),
    ...(selection.levels ?? [])
      .filter((name) => !levels.includes(name as Level))
      .map((name) => `--level ${name}: no such level; accepted are ${levels.join(", ")}`),
  ];
  if (problems.length > 0) throw new ConfigurationError(problems);
  const chosen = rules.filter((rule) => isChosen(rule.requirement, selection));
  if (chosen.length === 0)
    throw new ConfigurationError(["--only, --section and --level together select no rule"]);
  return chosen;
};

const isChosen = (id: RequirementId, selection: Selection): boolean => {
  const { group, level } = catalogue[id];
  const sections: readonly string[] = catalogue[id].sections;
  return (
    (selection.only === undefined || selection.only.includes(id)) &&
    (selection.sections === undefined ||
      selection.sections.some((name) => name === group || sections.includes(name))) &&
    (selection.levels === undefined || selection.levels.includes(level))
  );
};

const unknownId = (id: string): string[] => {
  if (isRequirementId(id))
    return catalogue[id].level === "untestable"
      ? [`--only ${id}: it cannot be tested (\`touchstone rules ${id}\` says why)`]
      : [];
  const near = nearest(id, requirementIds);
  const meant = groups.includes(id as Group)
    ? `to judge a group, use --section ${id};`
    : `did you mean ${near.join(", ")}?`;
  return [`--only ${id}: no such rule; ${meant} \`touchstone rules\` lists all ids`];
};
