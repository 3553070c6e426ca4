import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { waived, type AppliedWaiver } from "../../conformance/contract/outcome.ts";
import { catalogue, isRequirementId } from "../../conformance/contract/catalogue.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { Group, Level, Requirement } from "../../conformance/contract/requirement.ts";

/** Verdicts in the order of totals: those that need attention come first, then those that passed. */
export const verdictOrder = Object.keys({
  failed: true,
  "harness-error": true,
  warned: true,
  inconclusive: true,
  "could-not-run": true,
  pending: true,
  passed: true,
  observed: true,
  "not-applicable": true,
} satisfies Record<VerdictKind, true>) as readonly VerdictKind[];

export const wordOf = (kind: VerdictKind): string => kind.replaceAll("-", " ");

export const activeWaivers = ({ waivers }: RunRecord): ReadonlyMap<string, AppliedWaiver> => {
  const covered = waived(waivers);
  return new Map(waivers.filter(({ id }) => covered.has(id)).map((waiver) => [waiver.id, waiver]));
};

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

/** Throws ConfigurationError for an id that a damaged record has. */
export const requirementOf = (id: string): Requirement => {
  if (isRequirementId(id)) return catalogue[id];
  throw new ConfigurationError(`the record is damaged: "${id}" is no rule of this Touchstone`);
};

/** "section 4.1" or "sections 2.1, 8". */
export const sectionsOf = ({ sections }: Requirement): string =>
  `section${sections.length === 1 ? "" : "s"} ${sections.join(", ")}`;

/** What one of several runs is called: by its kind alone, or with its number among those of its kind. */
export const numbered = (names: readonly string[], at: number): string => {
  const name = names[at] ?? "";
  const count = (some: readonly string[]): number => some.filter((one) => one === name).length;
  return count(names) === 1 ? name : `${name} ${count(names.slice(0, at + 1))}`;
};
