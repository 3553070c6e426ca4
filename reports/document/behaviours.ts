import { catalogue, type RequirementId } from "../../conformance/contract/catalogue.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import { plural } from "../text/figures.ts";
import { groupTitles } from "../text/titles.ts";
import { doc, lines, listSection, soft, strong, type Doc, type Section } from "./model.ts";

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
