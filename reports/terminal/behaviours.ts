import { catalogue, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import { plural } from "../text/figures.ts";
import { indent, wrap } from "../text/layout.ts";
import { fitted, type Page } from "./palette.ts";
import { groupTitles } from "../text/titles.ts";

/** A behaviour of the fake service as `serve --list` tells it. */
export interface ListedBehaviour {
  readonly name: string;
  readonly summary: string;
  readonly kind: "sound" | "defect" | "variant";
  /** The requirements that a defect breaks; none for the others. */
  readonly breaks: readonly RequirementId[];
}

/** Behaviours whose name, summary or broken requirements hold this text, in whichever case. */
export const behavioursWith = (all: readonly ListedBehaviour[], text: string): readonly ListedBehaviour[] => {
  const wanted = text.toLowerCase();
  return all.filter(({ name, summary, breaks }) =>
    [name, summary, ...breaks].some((part) => part.toLowerCase().includes(wanted)),
  );
};

/** The behaviours: the sound one, defects by the section of the first rule that they break, then variants. */
export const renderBehaviours = (behaviours: readonly ListedBehaviour[], options: Page): string => {
  const page = fitted(options);
  const of = (kind: ListedBehaviour["kind"]): readonly ListedBehaviour[] =>
    behaviours.filter((one) => one.kind === kind);
  const defects = Map.groupBy(of("defect"), ({ breaks: [first] }) =>
    first === undefined ? "untestable" : catalogue[first].group,
  );
  const parts = [
    partLines("Keeps every promise", of("sound"), page),
    ...groups.map((group) => partLines(`Defects: ${groupTitles[group]}`, defects.get(group) ?? [], page)),
    partLines("Variants: different, and conforming", of("variant"), page),
  ].filter((lines) => lines.length > 0);
  const [defectCount, variantCount] = [of("defect").length, of("variant").length];
  const total = `${plural(behaviours.length, "behaviour")}: ${plural(defectCount, "defect")}, ${plural(variantCount, "variant")}`;
  return `${[...parts.flatMap((lines) => [...lines, ""]), total].join("\n")}\n`;
};

const partLines = (
  title: string,
  behaviours: readonly ListedBehaviour[],
  { palette, columns }: Page,
): string[] =>
  behaviours.length === 0
    ? []
    : [
        palette.bold(`${title} (${behaviours.length})`),
        ...behaviours.flatMap(({ name, summary, breaks }) => [
          `  ${name}`,
          ...indent(wrap(summary, columns - 6).map(palette.dim), 6),
          ...indent(
            breaks.length === 0 ? [] : wrap(`breaks ${breaks.join(", ")}`, columns - 6).map(palette.dim),
            6,
          ),
        ]),
      ];
