import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { groups, levels, type Requirement } from "../../conformance/contract/requirement.ts";
import { indent, padEnd, widest, wrap } from "../text/layout.ts";
import { fitted, type Page } from "./palette.ts";
import { definitions } from "./table.ts";
import { groupTitles, levelMeanings, sectionsOf } from "../text/titles.ts";

/** A seeded defect that a rule is to see. */
export interface KnownDefect {
  readonly name: string;
  readonly summary: string;
}

const requirementOf = (id: RequirementId): Requirement => catalogue[id];

/** The catalogue: every requirement by group, with its level, sections and sentence. */
export const renderCatalogue = (options: Page): string => {
  const page = fitted(options);
  const { palette, columns } = page;
  const idWidth = widest(requirementIds);
  const lines = groups.flatMap((group) => [
    palette.bold(groupTitles[group]),
    ...requirementIds
      .filter((id) => requirementOf(id).group === group)
      .flatMap((id) => {
        const known = requirementOf(id);
        return [
          `  ${padEnd(id, idWidth)}  ${palette.dim(`${padEnd(known.level, 11)}  ${known.sections.join(", ")}`)}`.trimEnd(),
          ...indent(wrap(known.sentence, columns - 4).map(palette.dim), 4),
        ];
      }),
    "",
  ]);
  const counts = levels.map((level): readonly [string, string[]] => {
    const count = requirementIds.filter((id) => requirementOf(id).level === level).length;
    return [
      `${String(count).padStart(3)} ${level}`,
      wrap(levelMeanings[level], columns - 17).map(palette.dim),
    ];
  });
  return `${[...lines, ...definitions(counts)].join("\n")}\n`;
};

/** One requirement in full; `defects` are those that are declared to break it. */
export const renderRule = (id: RequirementId, defects: readonly KnownDefect[], options: Page): string => {
  const { palette, columns } = fitted(options);
  const known = requirementOf(id);
  const text = (value: string): string[] => wrap(value, columns - 12);
  const readings = Object.entries(known.readings ?? {});
  const entries: (readonly [string, readonly string[]])[] = [
    ["level", text(`${known.level}: ${levelMeanings[known.level]}`)],
    ["from", text(`${sectionsOf(known)} of the service's document`)],
    ...(known.level === "derived" ? [["because", text(known.derivation)] as const] : []),
    ...(known.level === "advisory" ? [["clause", text(known.clause)] as const] : []),
    ...(known.level === "untestable" ? [["because", text(known.reason)] as const] : []),
    ["judged", text(known.judged)],
    ...(readings.length === 0 ? [] : [["readings", named(readings, columns - 12)] as const]),
    ...(defects.length === 0
      ? []
      : [
          [
            "kills",
            named(
              defects.map(({ name, summary }) => [name, summary] as const),
              columns - 12,
            ),
          ] as const,
        ]),
  ];
  const lines = [
    palette.bold(id),
    ...indent(wrap(known.sentence, columns - 2), 2),
    "",
    ...indent(definitions(entries.map(([label, body]) => [palette.dim(label), body])), 2),
  ];
  return `${lines.join("\n")}\n`;
};

/** Names each with its sentence: beside it where there is room, else below. */
const named = (
  entries: readonly (readonly [name: string, sentence: string])[],
  columns: number,
): string[] => {
  const nameWidth = widest(entries.map(([name]) => name));
  if (nameWidth > columns / 2)
    return entries.flatMap(([name, sentence]) => [name, ...indent(wrap(sentence, columns - 2), 2)]);
  return definitions(entries.map(([name, sentence]) => [name, wrap(sentence, columns - nameWidth - 2)]));
};
