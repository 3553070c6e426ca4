import type { LoadRecord, LoadRule } from "../../conformance/contract/load-record.ts";
import { asRecord } from "../../conformance/contract/given.ts";
import type { Outcome } from "../../conformance/contract/record.ts";
import type { LoadResult } from "./collect/collect.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { machine } from "./machine.ts";
import type { PushOutcome } from "./push/watch.ts";
import type { LoadFinal } from "./record.ts";
import { withUnchecked } from "./scenario-rules.ts";
import { thinkingUsers, virtualUsersFor } from "./settings.ts";
import { isHooksFault } from "./judge/abort.ts";
import { judgeObjectives } from "./judge/objectives.ts";
import { busyNotes, causeNotes, firstOfEach, judgedOutcome, type Judged } from "./judge/outcome.ts";
import { judgeValidity } from "./judge/validity.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

export const verdictsOf = (
  { target, clock, signal, k6 }: LoadContext,
  plan: LoadPlan,
  result: LoadResult,
  pushed: PushOutcome | undefined,
): LoadFinal => {
  const { end, stopped, achieved } = result;
  const users = virtualUsersFor(plan, target.profile);
  const parts = plan.segment?.count ?? 1;
  const judged = [...result.rules, ...(pushed?.judgement.rules ?? [])];
  // What one segment did not check, another may have.
  const { rules, notes } =
    plan.segment === undefined ? withUnchecked(plan.scenario, judged) : { rules: judged, notes: [] };
  const breaches = [...result.breaches, ...(pushed?.judgement.breaches ?? [])];
  const delays = pushed && { pushDelays: pushed.delays };
  const objectives = judgeObjectives(target.profile, { ...result, ...delays, seed: plan.seed });
  const validity = judgeValidity({
    achieved,
    whole: stopped === undefined,
    virtualUsers: {
      ready: Math.max(1, Math.round((users.allocated - thinkingUsers(plan.scenario, plan.rate)) / parts)),
      most: users.most / parts,
    },
    cores: machine().cores,
  });
  const outcome = outcomeOf({ rules, objectives, validity, achieved }, result, signal.aborted);
  return asRecord<LoadFinal>({
    endedAt: clock.wallTime().toISOString(),
    virtualUsers: users.most / parts,
    k6: asRecord<LoadRecord["k6"]>({
      version: k6.version,
      from: k6.from,
      exitCode: end.exitCode,
      exitMeaning: end.meaning,
      signal: end.signal,
    }),
    achieved,
    validity,
    stopped,
    endpoints: [...result.endpoints],
    objectives: [...objectives],
    rules,
    breaches: firstOfEach(breaches),
    pushes: pushed?.summary,
    notes: [
      ...result.notes,
      ...result.troubles,
      ...exceptionNotes(result),
      ...(pushed?.notes ?? []),
      ...causeNotes(rules),
      ...busyNotes({ objectives, achieved }),
      ...waiverNotes(rules, target.profile.waivers),
      ...notes,
    ],
    outcome,
    exitCode: exitCodes[outcome],
  });
};

const exceptionNotes = ({ exceptions }: LoadResult): readonly string[] =>
  exceptions.count === 0
    ? []
    : [
        `the script threw an exception in ${exceptions.count} iterations, which is a bug in Touchstone: ${exceptions.first[0] ?? ""}`,
      ];

/** A waiver excuses a breach that is known from the gate; under load it may have another cause. */
export const waiverNotes = (
  rules: readonly LoadRule[],
  waivers: LoadContext["target"]["profile"]["waivers"] = [],
): readonly string[] =>
  waivers
    .filter(({ id }) => rules.some((rule) => rule.id === id && rule.breaches > 0))
    .map(({ id }) => `${id} is waived in the profile, which excuses it in the gate only, not under load`);

/**
 * A broken rule outweighs everything else. A service that failed under load fails. A run spoilt by the harness or its
 * machine says nothing about speed: it is incomplete, never green.
 */
const outcomeOf = (judged: Judged, result: LoadResult, isInterrupted: boolean): Outcome =>
  judged.rules.some(({ breaches }) => breaches > 0)
    ? "failed"
    : (earlyOutcome(result, isInterrupted) ?? judgedOutcome(judged));

/** The outcome of a load that did not end as planned; undefined if it did. */
export const earlyOutcome = (
  { end, stopped, exceptions }: Pick<LoadResult, "end" | "stopped" | "exceptions">,
  isInterrupted: boolean,
): Outcome | undefined => {
  if (isInterrupted) return "interrupted";
  if (exceptions.count > 0 || end.says === "harness") return "harness-error";
  if (end.says === "interrupted") return "interrupted";
  if (end.says === "too slow") return "incomplete";
  // Apart from an interruption, only a full disk or the abort rule ends a load early.
  if (stopped === undefined) return undefined;
  if (isHooksFault(stopped)) return "incomplete";
  return stopped.startsWith("the record") ? "harness-error" : "failed";
};
