import type { ScenarioName } from "../../conformance/contract/load-shape.ts";
import type { Stage } from "../protocol.ts";
import { stagesOf } from "../stages.ts";
import { createPrivateKey } from "node:crypto";
import { given } from "../../conformance/contract/given.ts";
import type {
  ClientCertificate,
  FetchedProfile,
  HookDefinition,
} from "../../conformance/contract/profile-fetched.ts";
import { tolerances } from "../../conformance/judging/tolerances.ts";
import { traits } from "../lib/mix.ts";
import type { ScriptHook, ScriptSettings } from "../protocol.ts";
import type { LoadPlan, LoadTarget } from "./context.ts";

export const arrivalRateFor = (scenario: ScenarioName, rate: number): number =>
  rate / traits[scenario].requestsPerIteration;

export const stagesFor = (
  plan: Pick<LoadPlan, "scenario" | "shape" | "rate" | "durationMs">,
): readonly Stage[] => stagesOf(plan.shape, arrivalRateFor(plan.scenario, plan.rate), plan.durationMs);

/** What differs between starts of a script. */
export interface ScriptRun {
  readonly runKey: string;
  readonly preflight: boolean;
  /** Instead of those named in the profile. */
  readonly accounts?: readonly string[] | undefined;
}

/** The settings that a script reads. They hold secrets: the file must be readable only by its owner. */
export const scriptSettings = (
  {
    profile,
    clients,
    clientCertificate,
    limits,
  }: Pick<LoadTarget, "profile" | "clients" | "clientCertificate" | "limits">,
  plan: Omit<LoadPlan, "warmUpMs">,
  { runKey, preflight, accounts = profile.accounts ?? [] }: ScriptRun,
): ScriptSettings => {
  const trigger = scriptHook(profile.hooks?.events?.trigger);
  const { defaultLimit, defaultPage, stateMaxBytes, codeLifetimeMs, refreshTokenLifetimeMs } = limits;
  const requestTimeoutMs = requestTimeoutOf(profile);
  return {
    scenario: plan.scenario,
    baseUrl: profile.baseUrl.replace(/\/+$/, ""),
    clients: clients.map(({ id, secret, redirectUri }) => ({ id, secret, redirectUri })),
    headers: profile.headers ?? {},
    ...(clientCertificate === undefined ? {} : { clientCertificate: decrypted(clientCertificate) }),
    authorize: { headers: profile.authorize?.headers ?? {}, query: profile.authorize?.query ?? {} },
    ...(trigger === undefined ? {} : { trigger }),
    accounts,
    limits: { defaultLimit, defaultPage, stateMaxBytes, codeLifetimeMs, refreshTokenLifetimeMs },
    visibilityMs: profile.tolerances?.visibilityMs ?? tolerances.visibility.default,
    requestTimeoutMs,
    stages: stagesFor(plan),
    visitWeights: profile.load?.mixed ?? {},
    virtualUsers: virtualUsersFor(plan, profile),
    gracefulStopMs: requestTimeoutMs * MOST_IN_A_ROW,
    seed: plan.seed,
    ...(plan.segment === undefined ? {} : { segment: plan.segment }),
    digestKey: runKey,
    preflight,
  };
};

const decrypted = ({ cert, key, passphrase }: ClientCertificate) => {
  const plain = createPrivateKey({ key, ...given({ passphrase }) });
  return { cert, key: plain.export({ type: "pkcs8", format: "pem" }).toString() };
};

const requestTimeoutOf = (profile: Pick<FetchedProfile, "tolerances">): number =>
  profile.tolerances?.requestTimeoutMs ?? tolerances.requestTimeout.default;

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

/** At the end of the load, requests in flight may finish, and the next one or two of their iteration. */
const MOST_IN_A_ROW = 2;

/** Assumed time per request, for the initial virtual users and for all. */
const USUAL_ANSWER_MS = 100;
const SLOW_ANSWER_MS = 1_000;
/** Everything may stall this long before an arrival finds no free virtual user. */
const STALL_MS = 1_000;
const FEWEST_USERS = 10;
/** Per k6 process. */
const MOST_USERS_AT_START = 1_000;
const MOST_USERS = 5_000;

/**
 * How many virtual users a rate needs, by Little's law: arrivals per second times the seconds an iteration lasts.
 * Enough exist from the start for answers of 100 ms and a stall, because k6 drops the arrival for which it must create
 * another. An idle one costs some hundred KiB. If the load is cut into segments, k6 divides these numbers, so that each
 * segment gets enough.
 */
export const virtualUsersFor = (
  plan: Pick<LoadPlan, "scenario" | "rate" | "virtualUsers" | "segment"> & {
    readonly shape?: LoadPlan["shape"];
  },
  profile: Pick<FetchedProfile, "tolerances">,
): ScriptSettings["virtualUsers"] => {
  const { scenario, rate, virtualUsers: asked, segment } = plan;
  const { requestsPerIteration, thinkTimeMs } = traits[scenario];
  const parts = segment?.count ?? 1;
  const wholeParts = (users: number): number => Math.ceil(users / parts) * parts;
  const busy = (answerMs: number): number =>
    Math.ceil(
      (arrivalRateFor(scenario, rate) * (requestsPerIteration * (answerMs + thinkTimeMs) + STALL_MS)) / 1_000,
    );
  const slowestMs = Math.min(SLOW_ANSWER_MS, requestTimeoutOf(profile));
  const most = wholeParts(asked ?? clamp(busy(slowestMs), parts * FEWEST_USERS, parts * MOST_USERS));
  // Explicitly requested users all exist from the start, and so do those of a ramp, whose answers become slow.
  const usual = plan.shape === "breakpoint" ? most : busy(USUAL_ANSWER_MS);
  const wanted = asked ?? clamp(usual, parts * FEWEST_USERS, parts * MOST_USERS_AT_START);
  return { allocated: Math.min(most, wholeParts(wanted), parts * MOST_USERS_AT_START), most };
};

export const thinkingUsers = (scenario: ScenarioName, rate: number): number =>
  (rate * traits[scenario].thinkTimeMs) / 1_000;

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));
