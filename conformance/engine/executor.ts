import { createPlaces } from "../checks/cases.ts";
import type { Rule } from "../checks/rule.ts";
import { catalogue, isRequirementId, requirementIds, type RequirementId } from "../contract/catalogue.ts";
import type { RuleResult } from "../contract/record.ts";
import type { PushRunOptions } from "../pushes/state.ts";
import { pushRunsOf } from "./push-runs.ts";
import type { Session } from "../session/session.ts";
import type { Prepared } from "../world/world.ts";
import { distanceOf, type Bench } from "./judge-check.ts";
import { breaksAll, judgeRule } from "./judge-rule.ts";
import { createSolo } from "../checks/solo.ts";
import { createActs } from "./acts.ts";
import { watchesPushes } from "./needs.ts";
import { nearest } from "../contract/text.ts";
import { groups, levels, type Group, type Level } from "../contract/requirement.ts";
import { ConfigurationError } from "../contract/problem.ts";

export interface ExecutorOptions extends Pick<Bench, "effort" | "seed" | "path" | "stopAtBreach"> {
  readonly rules: readonly Rule[];
  /** Told in real time how long pushes are watched. */
  readonly onWatch?: PushRunOptions["onWatch"];
  /** Called as each rule settles, in that order. */
  readonly onResult?: (result: RuleResult) => void;
}

/** Cases that are awake at the same time: enough to keep every connection busy. */
const CASES_AT_A_TIME = { near: 24, far: 64 } as const;

/** Runs rules against one target, act by act; the rules of one act concurrently. */
export const runRules = async (
  session: Session,
  prepared: Prepared,
  { rules, onResult, onWatch, ...options }: ExecutorOptions,
): Promise<readonly RuleResult[]> => {
  const pushing = rules.filter(watchesPushes);
  const standEarly = pushing.every((rule) => rule.pushes?.standsEarly === true);
  const asked = new Set(rules.map(({ requirement }) => requirement));
  const { maxCases = CASES_AT_A_TIME[distanceOf(prepared)] } = session.resolved.profile.concurrency ?? {};
  const acts = createActs();
  const bench: Bench = {
    ...options,
    session,
    prepared,
    inAct: acts.inAct,
    solos: { soon: createSolo(), waiting: createSolo() },
    pushRuns: pushRunsOf(session, prepared, asked, options.seed, {
      onWatch,
      isEnough:
        options.stopAtBreach === true
          ? async (pushRun, isWatched) => (isWatched || standEarly) && breaksAll(bench, pushing, pushRun)
          : undefined,
    }),
    places: createPlaces(maxCases),
  };
  const results = rules.map(async (rule) => {
    const result = await judgeRule(bench, rule);
    onResult?.(result);
    return result;
  });
  const accounts = session.events?.accountsAreFresh === false ? "shared" : "own";
  await (session.clocks.kind === "real" ? acts.inRealTime(accounts) : acts.onMovedClock(accounts));
  return Promise.all(results);
};

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
