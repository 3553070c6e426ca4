import { defects } from "../../../fake-server/index.ts";
import { catalogue, requirementIds, requirement, type RequirementId } from "../../contract/catalogue.ts";
import { groups } from "../../contract/requirement.ts";
import { scenarioRules } from "../../../scenarios/runner/verdicts.ts";
import { code, page, table } from "./markdown.ts";

const killedBy = (id: RequirementId): number =>
  Object.values(defects).filter(({ breaks }) => breaks.includes(id)).length;

/** Why a requirement has its level, if that needs a reason. */
const reasonOf = (id: RequirementId): readonly string[] => {
  const promise = requirement(id);
  if (promise.level === "derived") return [`Why it follows: ${promise.derivation}`];
  if (promise.level === "advisory") return [`Clause: ${promise.clause}`];
  return promise.level === "untestable" ? [`Why it cannot be judged: ${promise.reason}`] : [];
};

const rulePart = (id: RequirementId): string => {
  const { level, sections, sentence, judged, readings = {} } = requirement(id);
  const killed = killedBy(id);
  return [
    `### ${id}`,
    `${level}, ${sections.length === 1 ? "section" : "sections"} ${sections.join(", ")}; ${killed === 0 ? "no seeded defect" : `kills ${killed} seeded ${killed === 1 ? "defect" : "defects"}`}.`,
    `**${sentence}**`,
    `How it is judged: ${judged}`,
    ...reasonOf(id),
    ...(Object.keys(readings).length === 0
      ? []
      : [
          `Readings:\n\n${Object.entries(readings)
            .map(([name, what]) => `- ${code(name)}: ${what}`)
            .join("\n")}`,
        ]),
  ].join("\n\n");
};

const counts = (): string => {
  const levels = Map.groupBy(requirementIds, (id) => catalogue[id].level);
  return table(
    ["level", "rules", "a breach"],
    [
      ["required", "fails the gate"],
      ["derived", "fails the gate"],
      ["advisory", "warns; fails the gate with `--strict`"],
      ["unspecified", "cannot happen: what is seen is recorded, and may be pinned"],
      ["untestable", "cannot be seen; listed with the reason"],
    ].map(([level = "", breach = ""]) => [level, String(levels.get(level as never)?.length ?? 0), breach]),
  );
};

const underLoad = (): string =>
  table(
    ["scenario", "rules that it checks"],
    Object.entries(scenarioRules).map(([scenario, ids]) => [code(scenario), ids.map(code).join(", ")]),
  );

export const rulesPage = (): string =>
  page(
    "Rules",
    `Every requirement of the catalogue: its sentence, how it is judged, and how many of the ${Object.keys(defects).length} seeded defects are declared to break it. \`touchstone rules ID\` names them; \`touchstone detect\` measures that they are killed.`,
    [
      counts(),
      ...groups.flatMap((group) => [
        `## ${group}`,
        ...requirementIds.filter((id) => catalogue[id].group === group).map(rulePart),
      ]),
      "## Under load",
      "These rules are checked by `touchstone load` too, if the load is long enough and the profile has what they need. Those that a load has not checked are named in its report.",
      underLoad(),
    ],
  );
