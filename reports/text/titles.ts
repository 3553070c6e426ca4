import { catalogue, isRequirementId } from "../../conformance/contract/catalogue.ts";
import type { Group, Level, Requirement } from "../../conformance/contract/requirement.ts";

export const groupTitles: Readonly<Record<Group, string>> = {
  authorize: "Authorize",
  code: "Authorization code",
  exchange: "Token exchange",
  refresh: "Token refresh",
  access: "Access token",
  notifications: "Notifications",
  push: "Webhook push",
  whole: "The service as a whole",
  untestable: "Cannot be tested from outside",
};

export const levelMeanings: Readonly<Record<Level, string>> = {
  required: "the document says so; a breach fails the gate",
  derived: "it follows from the document; a breach fails the gate",
  advisory: "a public standard says so, the document does not; a breach warns, and fails with --strict",
  unspecified: "the document leaves it open, so it is only observed",
  untestable: "it is not visible from outside; listed with the reason",
};

/** The requirement of an id; undefined if this version does not know it (records may be of other versions). */
export const knownRequirement = (id: string): Requirement | undefined =>
  isRequirementId(id) ? catalogue[id] : undefined;

/** "section 4.1" or "sections 2.1, 8". */
export const sectionsOf = ({ sections }: Requirement): string =>
  `section${sections.length === 1 ? "" : "s"} ${sections.join(", ")}`;

/** What one of several runs is called: by its kind alone, or with its number among those of its kind. */
export const numbered = <Name extends string>(
  names: readonly Name[],
  at: number,
): Name | `${Name} ${number}` => {
  const name = names[at] as Name;
  const count = (some: readonly Name[]): number => some.filter((one) => one === name).length;
  return count(names) === 1 ? name : `${name} ${count(names.slice(0, at + 1))}`;
};
