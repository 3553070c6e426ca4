import type { FixedShapeName, ScenarioName, Stage } from "../../conformance/contract/load-shape.ts";
import { stagesOf } from "../../conformance/contract/load-shape.ts";
import type { HookDefinition } from "../../conformance/contract/profile-fetched.ts";
import { meanThinkTimeMs, requestsPerIteration } from "../lib/mix.ts";
import type { ScriptClient, ScriptHook, ScriptSettings } from "../protocol.ts";

/** What a script has to know of the target, as plain data. */
export interface ScriptTarget {
  readonly baseUrl: string;
  readonly clients: readonly ScriptClient[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly authorize?: {
    readonly headers?: Readonly<Record<string, string>>;
    readonly query?: Readonly<Record<string, string>>;
  };
  /** The profile's hook events.trigger. One that is a command cannot be called under load. */
  readonly trigger?: HookDefinition;
  /** Accounts that the profile names; any UUID is one where it names none. */
  readonly accounts?: readonly string[];
  readonly limits: ScriptSettings["limits"];
  readonly visibilityMs: number;
  readonly requestTimeoutMs: number;
}

/** What a run is asked for. */
export interface ScriptPlan {
  readonly scenario: ScenarioName;
  readonly shape: FixedShapeName;
  /** Requests a second at the peak. */
  readonly rate: number;
  readonly durationMs: number;
  /** The most virtual users, where the user says so. */
  readonly mostVirtualUsers?: number;
  readonly seed: number;
  /** Random, and another in every run. */
  readonly runKey: string;
  readonly preflight: boolean;
}

/** Iterations a second that come to so many requests a second. */
export const arrivalRateFor = (scenario: ScenarioName, rate: number): number =>
  rate / requestsPerIteration[scenario];

/** The settings that a script reads. They hold secrets: the file may be read by its owner alone. */
export const scriptSettings = (target: ScriptTarget, plan: ScriptPlan): ScriptSettings => {
  const { scenario, rate, seed, preflight } = plan;
  const stages: readonly Stage[] = stagesOf(plan.shape, arrivalRateFor(scenario, rate), plan.durationMs);
  const trigger = scriptHook(target.trigger);
  const { defaultLimit, defaultPage, stateMaxBytes } = target.limits;
  return {
    scenario,
    baseUrl: target.baseUrl,
    clients: target.clients.map(({ id, secret, redirectUri }) => ({ id, secret, redirectUri })),
    headers: target.headers ?? {},
    authorize: { headers: target.authorize?.headers ?? {}, query: target.authorize?.query ?? {} },
    ...(trigger === undefined ? {} : { trigger }),
    accounts: target.accounts ?? [],
    limits: { defaultLimit, defaultPage, stateMaxBytes },
    visibilityMs: target.visibilityMs,
    requestTimeoutMs: target.requestTimeoutMs,
    stages,
    requestsPerIteration: requestsPerIteration[scenario],
    virtualUsers: virtualUsersFor(scenario, rate, target.requestTimeoutMs, plan.mostVirtualUsers),
    gracefulStopMs: target.requestTimeoutMs * MOST_IN_A_ROW,
    seed,
    digestKey: plan.runKey,
    preflight,
  };
};

/** The hook as a script can call it; undefined for a command. */
const scriptHook = (hook: HookDefinition | undefined): ScriptHook | undefined => {
  if (hook === undefined || !("http" in hook)) return undefined;
  const { method, url, headers, body } = hook.http;
  return {
    method: method ?? (body === undefined ? "GET" : "POST"),
    url,
    headers: headers ?? {},
    ...(body === undefined ? {} : { body }),
    ...(hook.result === undefined ? {} : { result: hook.result }),
  };
};

/** At the end of the load, requests that are under way may come to their end, and the next one or two of their iteration. */
const MOST_IN_A_ROW = 2;

/** What is reckoned with for a request, for the virtual users that are there from the start and for all. */
const USUAL_ANSWER_MS = 100;
const SLOW_ANSWER_MS = 1_000;
/** For so long everything may stand still without an arrival that finds no virtual user. */
const STALL_MS = 1_000;
const FEWEST_USERS = 10;
const MOST_USERS_AT_START = 1_000;
const MOST_USERS = 5_000;

/**
 * How many virtual users a rate takes, by Little's law: arrivals a second times the seconds that an
 * iteration lasts. Enough of them are there from the start for answers of a tenth of a second and a
 * stall, because k6 drops the arrival for which it has to make another one. One that waits costs
 * some hundred KiB.
 */
export const virtualUsersFor = (
  scenario: ScenarioName,
  rate: number,
  requestTimeoutMs: number,
  asked?: number,
): ScriptSettings["virtualUsers"] => {
  const thinkingMs = scenario === "mixed" ? meanThinkTimeMs : 0;
  const busy = (answerMs: number): number =>
    Math.ceil(
      (arrivalRateFor(scenario, rate) *
        (requestsPerIteration[scenario] * (answerMs + thinkingMs) + STALL_MS)) /
        1_000,
    );
  const most = asked ?? clamp(busy(Math.min(SLOW_ANSWER_MS, requestTimeoutMs)), FEWEST_USERS, MOST_USERS);
  // Users who are asked for by number are all there from the start, since that is what they are asked for.
  const wanted = asked ?? clamp(busy(USUAL_ANSWER_MS), FEWEST_USERS, MOST_USERS_AT_START);
  return { allocated: Math.min(most, wanted, MOST_USERS_AT_START), most };
};

/** Virtual users that think, and so wait for nobody, at any moment. */
export const thinkingUsers = (scenario: ScenarioName, rate: number): number =>
  scenario === "mixed" ? (rate * meanThinkTimeMs) / 1_000 : 0;

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
