import {
  parseStage,
  scenarioNames,
  shapeNames,
  type ScenarioName,
} from "../../conformance/contract/load-shape.ts";
import { ownShapeOf, stageEndsOf, type ShapeName } from "../stages.ts";
import type { LoadPlan } from "./context.ts";
import { windowSeconds } from "./ramp.ts";
import type { K6OutputName } from "./k6/outputs.ts";
import type { SegmentPlan } from "./segment-plan.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { isLoopback } from "../../conformance/contract/text.ts";
import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import { traits } from "../lib/mix.ts";
import { duration } from "../../conformance/contract/duration.ts";
import type { Profile } from "../../conformance/contract/profile.ts";

export interface LoadFlags {
  readonly scenario: string;
  readonly shape?: string | undefined;
  /** Default 100 per second, for half a minute. */
  readonly rate?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly warmUpMs?: number | undefined;
  readonly virtualUsers?: number | undefined;
  readonly seed: number;
  readonly segment?: SegmentPlan | undefined;
  readonly k6Output?: K6OutputName | undefined;
  /** Stages such as 30s:100, instead of shape, rate and duration. */
  readonly stages?: readonly string[] | undefined;
  /** The profile's stages, for a run whose flags set no course, or its shape, for one whose flags set none. */
  readonly profileShape?: readonly string[] | string | undefined;
  readonly tags?: Readonly<Record<string, string>> | undefined;
}

const [USUAL_RATE, USUAL_DURATION_MS] = [100, 30_000];

/** Stages define course, length and peak; flags that set one of these contradict them, and replace the profile's. */
const staged = (flags: LoadFlags) => {
  const { shape, rate: asked = USUAL_RATE, durationMs = USUAL_DURATION_MS, profileShape = [] } = flags;
  const isCourseNamed = (shape ?? flags.rate ?? flags.durationMs) !== undefined;
  const stages = flags.stages ?? (isCourseNamed || typeof profileShape === "string" ? [] : profileShape);
  if (stages.length === 0) return { ...flags, own: undefined, rate: asked, durationMs };
  const accepted = "a duration and requests per second, such as 30s:100";
  const wrong = stages.filter((text) => parseStage(text) === undefined);
  const problems = [
    ...wrong.map((value) => ({ key: "--stage", value, accepted })),
    isCourseNamed && "--stage sets a custom load; remove --shape, --rate and --duration",
  ].filter((one) => one !== false);
  if (problems.length > 0) throw new ConfigurationError(problems);
  const own = ownShapeOf(stages);
  const ends = stageEndsOf(own);
  const rate = Math.max(...ends.map((end) => end.rate));
  if (rate === 0)
    throw new ConfigurationError(
      "--stage: all stages have 0 requests per second; accepted is at least one with a higher rate",
    );
  return { ...flags, own, rate, durationMs: ends.reduce((sum, { afterMs }) => sum + afterMs, 0) };
};

/** Results are counted by second, so a warm-up ends with one. */
export const wholeWarmUpMs = (warmUpMs: number): number => Math.ceil(warmUpMs / 1_000) * 1_000;

/** A tenth of the run, at most five seconds, to open connections and compile code. */
const usualWarmUpMs = (durationMs: number): number =>
  Math.min(5_000, Math.floor(durationMs / 10_000) * 1_000);

/** Two windows, so that one can hold before another gives way. */
const leastRampMs = 2 * windowSeconds * 1_000;

/** The flags as a valid run request. Throws ConfigurationError with every problem, each naming its flag. */
export const parseAsked = (given: LoadFlags): LoadPlan => {
  const flags = staged(given);
  const { rate, durationMs, virtualUsers, seed, segment, k6Output, tags } = flags;
  const scenario: ScenarioName | undefined = scenarioNames.find((name) => name === flags.scenario);
  const asked = flags.shape ?? (typeof flags.profileShape === "string" ? flags.profileShape : "constant");
  const shape: ShapeName | undefined = flags.own ?? shapeNames.find((name) => name === asked);
  const warmUpMs = wholeWarmUpMs(flags.warmUpMs ?? usualWarmUpMs(durationMs));
  const problems = [
    scenario === undefined && `--scenario is "${flags.scenario}"; accepted are ${scenarioNames.join(", ")}`,
    shape === undefined && `--shape is "${asked}"; accepted are ${shapeNames.join(", ")}`,
    durationMs < 1_000 && "--duration is shorter than a second; accepted is 1s or longer",
    shape === "breakpoint" &&
      durationMs >= 1_000 &&
      durationMs - warmUpMs < leastRampMs &&
      `--duration is ${durationMs / 1_000}s; objectives are judged over ${windowSeconds} seconds, so accepted for --shape breakpoint is ${leastRampMs / 1_000}s or longer after the warm-up`,
    shape === "breakpoint" &&
      scenario === "push" &&
      "--shape breakpoint accepts the scenarios token, notifications and mixed, because objectives of pushes are judged after the load",
    shape === "breakpoint" &&
      segment !== undefined &&
      "--segment needs a load with a fixed end; run --shape breakpoint without --segment, because only a merge judges objectives",
    warmUpMs >= durationMs &&
      "--warm-up, rounded up to whole seconds, is as long as --duration or longer; accepted is a shorter one",
  ].filter((one) => one !== false);
  if (scenario === undefined || shape === undefined || problems.length > 0)
    throw new ConfigurationError(problems);
  return { scenario, shape, rate, durationMs, warmUpMs, virtualUsers, seed, segment, k6Output, tags };
};

/**
 * Refuses a load that cannot or must not run: a scenario that lacks a requirement, a host that the profile does not
 * permit, a rate or duration above the ceilings. Throws ConfigurationError before anything is sent.
 */
export const checkPlan = (
  { profile }: { readonly profile: FetchedProfile },
  plan: Pick<LoadPlan, "scenario" | "rate" | "durationMs" | "segment">,
): void => {
  if (plan.segment !== undefined && plan.scenario === "push")
    throw new ConfigurationError([
      "--segment accepts the scenarios token, notifications and mixed; run --scenario push without it, because only one machine can run the receiver, plan the failures and move the target's clock",
    ]);
  const { events } = traits[plan.scenario];
  const trigger = profile.hooks?.events?.trigger;
  const hook = trigger !== undefined && "http" in trigger ? [trigger.http.url] : [];
  checkSafety(profile, events === "none" ? [] : hook, plan);
  if (events !== "needed") return;
  const missing = [
    hook.length === 0 && "`hooks.events.trigger` as an HTTP hook (a command cannot be called under load)",
    profile.hooks?.callback === undefined && "`hooks.callback.register`",
  ].filter((one) => one !== false);
  if (missing.length > 0)
    throw new ConfigurationError(`--scenario ${plan.scenario} needs ${missing.join(" and ")} in the profile`);
};

/** Default ceilings. */
const usual = {
  loopback: { maxRate: 20_000, maxDurationMs: 24 * 3_600_000 },
  elsewhere: { maxRate: 500, maxDurationMs: 3_600_000 },
} as const;

/**
 * Refuses a load on a target that is not permitted. Loopback is always permitted; any other host only if `safety.hosts`
 * names it exactly. The same applies to the hosts of event hooks, which are loaded too. Throws ConfigurationError.
 */
export const checkSafety = (
  profile: Pick<Profile, "baseUrl" | "safety">,
  loaded: readonly string[],
  asked: Pick<LoadPlan, "rate" | "durationMs">,
): void => {
  const allowed = profile.safety?.hosts ?? [];
  const refused = [...new Set([profile.baseUrl, ...loaded].map(hostOf))].filter(
    (host) => !isLoopback(host) && !allowed.includes(host),
  );
  const ceilings = {
    ...usual[isLoopback(hostOf(profile.baseUrl)) ? "loopback" : "elsewhere"],
    ...profile.safety,
  };
  const problems = [
    ...refused.map(
      (host) =>
        `host "${host}" may not be loaded; accepted are loopback and the hosts in the profile's safety.hosts${allowed.length === 0 ? " (none so far)" : `: ${allowed.join(", ")}`}`,
    ),
    asked.rate > ceilings.maxRate &&
      `--rate is ${asked.rate}; accepted is up to ${ceilings.maxRate} requests per second (safety.maxRate)`,
    asked.durationMs > ceilings.maxDurationMs &&
      `--duration is ${duration(asked.durationMs)}; accepted is up to ${duration(ceilings.maxDurationMs)} (safety.maxDurationMs)`,
  ].filter((one) => one !== false);
  if (problems.length > 0) throw new ConfigurationError(problems);
};

const hostOf = (address: string): string => new URL(address).hostname.replace(/^\[|\]$/g, "");
