import { mkdtemp, rm } from "node:fs/promises";
import type { Limits } from "../../conformance/contract/limits.ts";
import type { LoadBreach, LoadRecord, LoadRule } from "../../conformance/contract/load-record.ts";
import {
  askedRateAt,
  stagesOf,
  type FixedShapeName,
  type ShapeName,
  type ScenarioName,
} from "../../conformance/contract/load-shape.ts";
import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import { secretsInProfile } from "../../conformance/contract/profile-secrets.ts";
import type { PushPorts } from "../../conformance/contract/push-ports.ts";
import { exitCodes, type Outcome } from "../../conformance/contract/record.ts";
import type { ScriptClient } from "../protocol.ts";
import { scriptFor } from "./bundle.ts";
import type { RunnerClock } from "./clock.ts";
import { runLoad, type LoadResult, type LoadSecond } from "./collect/collect.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { createAbortWatch, usualAbortRule } from "./judge/abort.ts";
import { judgeObjectives } from "./judge/objectives.ts";
import { checkSafety } from "./judge/safety.ts";
import { judgeValidity } from "./judge/validity.ts";
import type { FoundK6 } from "./k6/find.ts";
import { machine } from "./machine.ts";
import { InvalidLoad } from "./problem.ts";
import { watchPushes, type PushOutcome } from "./push/watch.ts";
import { nowhere, openLoadRecord, type LoadRecordWriter } from "./record.ts";
import { temporaryBase } from "./temporary.ts";
import {
  arrivalRateFor,
  scriptSettings,
  thinkingUsers,
  type ScriptPlan,
  type ScriptTarget,
} from "./settings.ts";

/** The service that is loaded, with the secrets that its scripts need. */
export interface LoadTarget {
  readonly name: string;
  readonly profile: FetchedProfile;
  readonly clients: readonly ScriptClient[];
  readonly profiles: readonly string[];
  readonly behaviour?: string | undefined;
  readonly limits: Limits;
  readonly replacedLimits: readonly string[];
}

/** What is asked of one load run. */
export interface LoadPlan {
  readonly scenario: ScenarioName;
  readonly shape: FixedShapeName;
  /** Requests a second at the peak. */
  readonly rate: number;
  readonly durationMs: number;
  readonly warmUpMs: number;
  readonly virtualUsers?: number | undefined;
  readonly seed: number;
  /** The target was loaded in this very way a moment ago: no look before it is needed. */
  readonly isKnown?: boolean | undefined;
}

export interface LoadContext {
  readonly target: LoadTarget;
  readonly k6: FoundK6;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: RunnerClock;
  readonly signal: AbortSignal;
  readonly tool: string;
  /** Random, and another in every run. */
  readonly runKey: string;
  /** What a push load needs beside k6. */
  readonly push?: PushPorts | undefined;
  readonly onSecond?: (second: LoadSecond) => void;
  readonly onPhase?: (phase: string | undefined) => void;
}

/**
 * Refuses what cannot be loaded or may not be: a scenario that lacks what it needs, a host that was
 * not released, a rate or a duration beyond the ceilings. Throws InvalidLoad before anything is sent.
 */
export const checkPlan = (
  { profile }: Pick<LoadTarget, "profile">,
  plan: Pick<LoadPlan, "scenario" | "rate" | "durationMs">,
): void => {
  const trigger = profile.hooks?.events?.trigger;
  const hook = trigger !== undefined && "http" in trigger ? [trigger.http.url] : [];
  checkSafety(profile, plan.scenario === "token" ? [] : hook, plan);
  const lacking =
    plan.scenario !== "push"
      ? []
      : [
          ...(hook.length === 0
            ? ["`hooks.events.trigger` as an HTTP hook (a command cannot be called under load)"]
            : []),
          ...(profile.hooks?.callback === undefined ? ["`hooks.callback.register`"] : []),
        ];
  if (lacking.length > 0)
    throw new InvalidLoad([`--scenario push needs ${lacking.join(" and ")} in the profile`]);
};

/**
 * Runs one load: a look at every step by one virtual user, then the load with a record that grows
 * second by second, then the verdicts. Throws InvalidLoad where the run makes no sense, K6Failed
 * where k6 cannot be started or listened to.
 */
export const load = async (context: LoadContext, plan: LoadPlan, out: string): Promise<LoadRecord> => {
  checkPlan(context.target, plan);
  const folder = await mkdtemp(temporaryBase("load"));
  const writer = openLoadRecord(out, headerOf(context, plan));
  try {
    const script = await scriptFor(plan.scenario, folder);
    const pushes = plan.scenario === "push" ? await watchPushes(context, out) : undefined;
    if (plan.isKnown !== true) await lookFirst(context, plan, script, pushes?.accounts);
    const result = await run(context, plan, script, writer, pushes);
    const pushed = await pushes?.finish(result, plan);
    context.onPhase?.(undefined);
    return writer.seal(verdictsOf(context, plan, result, pushed));
  } catch (error) {
    sealBroken(context, writer, error);
    throw error;
  } finally {
    writer.close();
    await rm(folder, { recursive: true, force: true });
  }
};

type Watched = Awaited<ReturnType<typeof watchPushes>> | undefined;

const settingsFor = (
  { target, runKey }: Pick<LoadContext, "target" | "runKey">,
  plan: LoadPlan,
  preflight: boolean,
  accounts: readonly string[] | undefined,
  out: string,
) => {
  const { profile, limits, clients } = target;
  const script: ScriptTarget = {
    baseUrl: profile.baseUrl.replace(/\/+$/, ""),
    clients,
    ...(profile.headers === undefined ? {} : { headers: profile.headers }),
    ...(profile.authorize === undefined ? {} : { authorize: profile.authorize }),
    ...(profile.hooks?.events === undefined ? {} : { trigger: profile.hooks.events.trigger }),
    ...(accounts === undefined
      ? profile.accounts === undefined
        ? {}
        : { accounts: profile.accounts }
      : { accounts }),
    limits,
    visibilityMs: profile.tolerances?.visibilityMs ?? 30_000,
    requestTimeoutMs: profile.tolerances?.requestTimeoutMs ?? 10_000,
  };
  const { virtualUsers, ...rest } = plan;
  const asked: ScriptPlan = {
    ...rest,
    ...(virtualUsers === undefined ? {} : { mostVirtualUsers: virtualUsers }),
    // The look before a load and every block of one make accounts of their own: what others wrote must not surprise them.
    runKey: `${runKey} ${preflight ? "before" : out}`,
    preflight,
  };
  return scriptSettings(script, asked);
};

/** One iteration by one virtual user: what does not work there will not work a thousand times. */
const lookFirst = async (
  context: LoadContext,
  plan: LoadPlan,
  script: string,
  accounts: readonly string[] | undefined,
): Promise<void> => {
  context.onPhase?.("a look before the load");
  const { k6, environment, clock, signal } = context;
  const settings = settingsFor(context, plan, true, accounts, "");
  const { troubles, exceptions, end } = await runLoad({
    k6,
    script,
    settings,
    environment,
    clock,
    signal,
    sink: nowhere,
    warmUpMs: 0,
    hidden: secretsInProfile(context.target.profile),
  });
  if (signal.aborted) return;
  const reasons = [...troubles, ...exceptions.first.map((first) => `the script failed: ${first}`)];
  if (reasons.length > 0)
    throw new InvalidLoad([`a look at ${plan.scenario} before the load did not go through:`, ...reasons]);
  if (end.says !== "finished")
    throw new InvalidLoad([
      `a look at ${plan.scenario} before the load did not go through: k6 ${end.meaning}`,
    ]);
};

const run = (
  context: LoadContext,
  plan: LoadPlan,
  script: string,
  writer: LoadRecordWriter,
  pushes: Watched,
): Promise<LoadResult> => {
  const { k6, environment, clock, signal, onSecond, onPhase } = context;
  onPhase?.(undefined);
  const giveUp = createAbortWatch({ ...usualAbortRule, ...context.target.profile.safety?.abort });
  return runLoad({
    k6,
    script,
    settings: settingsFor(context, plan, false, pushes?.accounts, writer.directory),
    environment,
    clock,
    signal,
    sink: writer,
    warmUpMs: plan.warmUpMs,
    hidden: secretsInProfile(context.target.profile),
    ...(pushes === undefined ? {} : { onEvent: pushes.onEvent }),
    onSecond: (second) => {
      onSecond?.(second);
      return giveUp(second.line);
    },
  });
};

/** What is known of a run before it begins. */
export const headerOf = (
  { target, k6, tool, clock }: LoadContext,
  plan: Omit<LoadPlan, "shape"> & { readonly shape: ShapeName },
): Parameters<typeof openLoadRecord>[1] => {
  const settings = { rate: plan.rate, arrivalRate: arrivalRateFor(plan.scenario, plan.rate) };
  return {
    tool,
    startedAt: clock.wallTime().toISOString(),
    seed: plan.seed,
    target: {
      name: target.name,
      baseUrl: target.profile.baseUrl,
      profiles: [...target.profiles],
      ...(target.behaviour === undefined ? {} : { behaviour: target.behaviour }),
    },
    limits: { ...target.limits },
    replacedLimits: [...target.replacedLimits],
    scenario: plan.scenario,
    shape: plan.shape,
    ...settings,
    durationMs: plan.durationMs,
    warmUpMs: plan.warmUpMs,
    virtualUsers: plan.virtualUsers ?? 0,
    k6: { version: k6.version, from: k6.from },
    machine: machine(),
    fingerprint: fingerprintOf(target, k6, plan),
    endpoints: [],
    objectives: [],
    rules: [],
    breaches: [],
    notes: [],
  };
};

const verdictsOf = (
  { target, clock, signal, k6 }: LoadContext,
  plan: LoadPlan,
  result: LoadResult,
  pushed: PushOutcome | undefined,
): Parameters<LoadRecordWriter["seal"]>[0] => {
  const { end, stopped, achieved, mostUnderWay, mostConnecting } = result;
  const { virtualUsers } = settingsFor({ target, runKey: "" }, plan, false, undefined, "");
  const rules = [...result.rules, ...(pushed?.judgement.rules ?? [])];
  const breaches = [...result.breaches, ...(pushed?.judgement.breaches ?? [])];
  const objectives = judgeObjectives(target.profile, {
    endpoints: Object.fromEntries(
      Object.entries(result.measures).filter(([endpoint]) => endpoint !== "trigger"),
    ),
    measuredSeconds: result.measuredSeconds,
    ...(pushed === undefined ? {} : { pushDelays: pushed.delays }),
    seed: plan.seed,
  });
  const validity = judgeValidity({
    achieved,
    whole: stopped === undefined,
    mostUnderWay,
    mostConnecting,
    virtualUsers: {
      ready: Math.max(1, Math.round(virtualUsers.allocated - thinkingUsers(plan.scenario, plan.rate))),
      most: virtualUsers.most,
    },
    cores: machine().cores,
  });
  const outcome = outcomeOf({ signal, result, rules, objectives, validity });
  return {
    endedAt: clock.wallTime().toISOString(),
    virtualUsers: virtualUsers.most,
    k6: {
      version: k6.version,
      from: k6.from,
      ...(end.exitCode === undefined ? {} : { exitCode: end.exitCode }),
      exitMeaning: end.meaning,
      ...(end.signal === undefined ? {} : { signal: end.signal }),
    },
    achieved,
    validity,
    ...(stopped === undefined ? {} : { stopped }),
    endpoints: [...result.endpoints],
    objectives: [...objectives],
    rules,
    breaches: firstOfEach(breaches),
    ...(pushed === undefined ? {} : { pushes: pushed.summary }),
    notes: [...result.notes, ...result.troubles, ...exceptionNotes(result), ...(pushed?.notes ?? [])],
    outcome,
    exitCode: exitCodes[outcome],
  };
};

const exceptionNotes = ({ exceptions }: LoadResult): readonly string[] =>
  exceptions.count === 0
    ? []
    : [
        `the script threw an exception in ${exceptions.count} iterations, which is a mistake of Touchstone's: ${exceptions.first[0] ?? ""}`,
      ];

/** The first breach of each rule: all that were kept are in breaches.jsonl. */
const firstOfEach = (breaches: readonly LoadBreach[]): LoadBreach[] =>
  [...Map.groupBy(breaches, ({ rule }) => rule).values()].flatMap(([first]) => first ?? []);

interface Evidence {
  readonly signal: AbortSignal;
  readonly result: LoadResult;
  readonly rules: readonly LoadRule[];
  readonly objectives: ReturnType<typeof judgeObjectives>;
  readonly validity: ReturnType<typeof judgeValidity>;
}

/**
 * A broken rule outweighs everything; a service that gave way fails; what the harness or its machine
 * spoilt says nothing of speed, and is incomplete, never green.
 */
const outcomeOf = ({ signal, result, rules, objectives, validity }: Evidence): Outcome => {
  if (rules.some(({ breaches }) => breaches > 0)) return "failed";
  if (signal.aborted) return "interrupted";
  const { end, stopped, exceptions } = result;
  if (exceptions.count > 0 || end.says === "harness") return "harness-error";
  if (end.says === "interrupted") return "interrupted";
  // What ended the load early, other than an interruption, is the rule that gives a run up.
  if (stopped !== undefined) return stopped.startsWith("the record") ? "harness-error" : "failed";
  if (!validity.valid) return "incomplete";
  if (objectives.some(({ verdict }) => verdict === "breached")) return "failed";
  if (objectives.some(({ verdict }) => verdict === "not measured")) return "incomplete";
  return rules.some(({ checks }) => checks > 0) ? "passed" : "incomplete";
};

const sealBroken = ({ clock, signal }: LoadContext, writer: LoadRecordWriter, error: unknown): void => {
  const outcome: Outcome = signal.aborted
    ? "interrupted"
    : error instanceof InvalidLoad
      ? "incomplete"
      : "harness-error";
  try {
    writer.seal({
      endedAt: clock.wallTime().toISOString(),
      outcome,
      exitCode: outcome === "incomplete" ? exitCodes.usage : exitCodes[outcome],
      notes: [error instanceof Error ? error.message : String(error)],
    });
  } catch {
    // Where the record itself cannot be written, the first error says more than the second would.
  }
};

/** What was asked for at a moment of the load, in arrivals a second. */
export const askedAt = (plan: LoadPlan): ((atMs: number) => number) => {
  const stages = stagesOf(plan.shape, arrivalRateFor(plan.scenario, plan.rate), plan.durationMs);
  return (atMs) => askedRateAt(stages, atMs);
};
