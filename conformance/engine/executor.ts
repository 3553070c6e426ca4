import { createPlaces } from "../checks/cases.ts";
import type { Rule } from "../checks/rule.ts";
import { catalogue, isRequirementId, requirementIds, type RequirementId } from "../contract/catalogue.ts";
import type { RuleResult } from "../contract/record.ts";
import type { PushRunOptions } from "../pushes/state.ts";
import { pushRunsOf } from "./push-runs.ts";
import type { Session } from "../session/session.ts";
import type { Prepared } from "../world/world.ts";
import { breaksAll, distanceOf, judgeRule, type Bench } from "./judge-rule.ts";
import { readsPrepared, watchesPushes } from "./needs.ts";
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

/**
 * Runs rules concurrently against one target. Rules that sleep do so together on the session's clock; rules that create
 * notifications wait until those that only read are done.
 */
export const runRules = async (
  session: Session,
  prepared: Prepared,
  { rules, onResult, onWatch, ...options }: ExecutorOptions,
): Promise<readonly RuleResult[]> => {
  const writers = rules.filter((rule) => rule.writes === true);
  const pushing = writers.filter(watchesPushes);
  const standEarly = pushing.every((rule) => rule.standsEarly === true);
  const asked = new Set(rules.map(({ requirement }) => requirement));
  const { maxCases = CASES_AT_A_TIME[distanceOf(prepared)] } = session.resolved.profile.concurrency ?? {};
  const bench: Bench = {
    ...options,
    session,
    prepared,
    pushRuns: pushRunsOf(session, prepared, asked, options.seed, {
      onWatch,
      isEnough:
        options.stopAtBreach === true
          ? async (pushRun, isWatched) => (isWatched || standEarly) && breaksAll(bench, pushing, pushRun)
          : undefined,
    }),
    places: createPlaces(maxCases),
  };
  const results = new Map<Rule, Promise<RuleResult>>();
  const resultsOf = (some: readonly Rule[]) => Promise.all(some.flatMap((rule) => results.get(rule) ?? []));
  /** Starts these rules once others have their results. */
  const begin = (some: readonly Rule[], awaited: Promise<unknown>): void => {
    for (const rule of some)
      results.set(
        rule,
        awaited
          .then(() => judgeRule(bench, rule))
          .then((result) => {
            onResult?.(result);
            return result;
          }),
      );
  };
  const others = rules.filter((rule) => rule.writes !== true);
  begin(others, Promise.resolve());
  const read = resultsOf(others.filter(readsNotifications));
  begin(pushing, read);
  // In shared accounts, an event of another rule would be mistaken for one of the push run's.
  const isShared = session.events?.accountsAreFresh === false;
  const undisturbed = isShared ? read.then(() => resultsOf(pushing)) : read;
  begin(
    writers.filter((rule) => !watchesPushes(rule)),
    undisturbed,
  );
  return resultsOf(rules);
};

const readsNotifications = (rule: Rule): boolean =>
  catalogue[rule.requirement].group === "notifications" || readsPrepared(rule);

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
