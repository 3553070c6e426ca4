import type { LoadRecord, LoadRule } from "../../conformance/contract/load-record.ts";
import { asRecord } from "../../conformance/contract/given.ts";
import type { Outcome } from "../../conformance/contract/record.ts";
import type { LoadResult } from "./collect/collect.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { machine } from "./header.ts";
import type { PushOutcome } from "./push/watch.ts";
import type { LoadFinal } from "./record.ts";
import { thinkingUsers, virtualUsersFor } from "./settings.ts";
import {
  isHooksFault,
  busyNotes,
  causeNotes,
  firstsOfEach,
  judgedOutcome,
  type Judged,
  judgeValidity,
  type Validity,
} from "./judge/validity.ts";
import { judgeObjectives } from "./judge/objectives.ts";
import { rampEnded, type Ramp } from "./ramp.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { ScenarioName } from "../../conformance/contract/load-shape.ts";

interface Beside {
  readonly pushed?: PushOutcome | undefined;
  readonly ramp?: Ramp | undefined;
}

export const verdictsOf = (
  context: LoadContext,
  plan: LoadPlan,
  result: LoadResult,
  { pushed, ramp }: Beside,
): LoadFinal => {
  const { target, clock, signal, k6 } = context;
  const { end, achieved } = result;
  const stopped = result.stopped === rampEnded ? undefined : result.stopped;
  const users = usersOf(context, plan);
  const checked = [...result.rules, ...(pushed?.judgement.rules ?? [])];
  // What one segment did not check, another may have.
  const { rules, notes } =
    plan.segment === undefined ? withUnchecked(plan.scenario, checked) : { rules: checked, notes: [] };
  const measured = measuredOf(context, plan, result, { pushed, ramp });
  const { objectives, validity } = measured;
  const missed = ramp && ramp.found.heldTo > 0 ? ramp.found.gaveWay : undefined;
  const judged = { ...measured, rules, objectives: missed ? [...objectives, missed] : objectives };
  const outcome = outcomeOf(judged, { ...result, stopped }, { isInterrupted: signal.aborted, ramp });
  return asRecord<LoadFinal>({
    endedAt: clock.wallTime().toISOString(),
    virtualUsers: users.most,
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
    breakpoint: ramp?.found,
    endpoints: [...result.endpoints],
    objectives: [...objectives],
    rules,
    breaches: firstsOfEach([...result.breaches, ...(pushed?.judgement.breaches ?? [])], 1),
    pushes: pushed?.summary,
    notes: [
      ...result.notes,
      ...result.troubles,
      ...exceptionNotes(result),
      ...(pushed?.notes ?? []),
      ...causeNotes(rules),
      ...busyNotes(judged),
      ...waiverNotes(rules, target.profile.waivers),
      ...notes,
    ],
    outcome,
    exitCode: exitCodes[outcome],
  });
};

/** The virtual users of this machine. */
const usersOf = ({ target }: Pick<LoadContext, "target">, plan: LoadPlan) => {
  const users = virtualUsersFor(plan, target.profile);
  const parts = plan.segment?.count ?? 1;
  const ready = Math.round((users.allocated - thinkingUsers(plan.scenario, plan.rate)) / parts);
  return { ready: Math.max(1, ready), most: users.most / parts };
};

/** What was measured against the objectives, and whether that says anything. */
const measuredOf = (
  context: Pick<LoadContext, "target">,
  plan: LoadPlan,
  result: LoadResult,
  { pushed, ramp }: Beside,
): Omit<Judged, "rules"> => {
  const delays = pushed && { pushDelays: pushed.delays };
  const achieved = { ...result.achieved, ...ramp?.atEnd };
  const validity = judgeValidity({
    achieved,
    whole: result.stopped === undefined,
    virtualUsers: usersOf(context, plan),
    cores: machine().cores,
  });
  return {
    objectives:
      ramp?.objectives ?? judgeObjectives(context.target.profile, { ...result, ...delays, seed: plan.seed }),
    validity: ramp === undefined ? validity : rampValidity(validity, ramp),
    achieved,
  };
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
export const outcomeOf = (
  judged: Judged,
  result: Ended,
  { isInterrupted, ramp }: { readonly isInterrupted: boolean; readonly ramp: Ramp | undefined },
): Outcome => {
  if (judged.rules.some(({ breaches }) => breaches > 0)) return "failed";
  const early = earlyOutcome(result, isInterrupted);
  if (early !== undefined) return early;
  const outcome = judgedOutcome(judged);
  // That an objective gives way is what a ramp is for, once all of them held.
  return outcome === "failed" && ramp !== undefined && ramp.found.heldTo > 0 ? "passed" : outcome;
};

/** Slow answers that used up the virtual users are no fault of the load if they missed an objective as well. */
const rampValidity = (validity: Validity, { found: { gaveWay } }: Ramp): Validity => {
  const reasons = validity.reasons.filter(({ cause }) => gaveWay === undefined || cause === "load generator");
  return { valid: reasons.length === 0, reasons };
};

interface Ended extends Pick<LoadResult, "end" | "exceptions"> {
  readonly stopped?: string | undefined;
}

/** The outcome of a load that did not end as planned; undefined if it did. */
export const earlyOutcome = (
  { end, stopped, exceptions }: Ended,
  isInterrupted: boolean,
): Outcome | undefined => {
  if (isInterrupted) return "interrupted";
  if (exceptions.count > 0 || end.says === "harness") return "harness-error";
  if (end.says === "interrupted") return "interrupted";
  if (end.says === "too slow") return "incomplete";
  // Apart from an interruption and the end of a ramp, only a full disk or the abort rule ends a load early.
  if (stopped === undefined) return undefined;
  if (isHooksFault(stopped)) return "incomplete";
  return stopped.startsWith("the record") ? "harness-error" : "failed";
};

const authorizing = [
  "authorize.answers-with-code",
  "authorize.echoes-state",
  "authorize.code-is-fresh",
  "exchange.token-set",
  "exchange.tokens-are-fresh",
] as const;

const refreshing = [
  "exchange.access-token-works",
  "refresh.token-set",
  "refresh.returns-no-refresh-token",
  "refresh.access-token-works",
  "refresh.reusable",
] as const;

const listing = [
  "notifications.shape",
  "notifications.total",
  "notifications.limit",
  "notifications.default-limit",
  "notifications.filter-id",
  "notifications.filter-account",
  "notifications.pages-partition",
  "notifications.under-writes",
  "access.lifetime",
] as const;

/** The rules that a load of a scenario checks if it is long enough and everything that it needs is there. */
export const scenarioRules = {
  token: [
    ...authorizing,
    ...refreshing,
    "code.single-use",
    "code.single-use-under-race",
    "code.unknown",
    "exchange.authenticates-client",
    "refresh.unknown",
    "access.required",
  ],
  notifications: [
    ...listing,
    "notifications.default-page",
    "notifications.filters-combine",
    "notifications.past-the-end",
  ],
  mixed: [...authorizing, ...refreshing, ...listing],
  push: [
    "push.delivered",
    "push.payload",
    "push.cap",
    "push.acknowledged-stops",
    "push.same-notification",
    "push.unacknowledged-retries",
    "push.schedule",
  ],
} as const satisfies Readonly<Record<ScenarioName, readonly RequirementId[]>>;

/** The rules of a load with those of its scenario that nothing checked, and a note that names these. */
export const withUnchecked = (scenario: string, rules: readonly LoadRule[]) => {
  const own: Readonly<Record<string, readonly string[]>> = scenarioRules;
  const checked = new Set(rules.filter(({ checks }) => checks > 0).map(({ id }) => id));
  const unchecked = (own[scenario] ?? []).filter((id) => !checked.has(id));
  const known = new Set(rules.map(({ id }) => id));
  return {
    rules: [
      ...rules,
      ...unchecked.filter((id) => !known.has(id)).map((id): LoadRule => ({ id, checks: 0, breaches: 0 })),
    ],
    notes:
      unchecked.length === 0
        ? []
        : [`not checked, though the scenario ${scenario} can check it: ${unchecked.join(", ")}`],
  };
};
