import { isLoopback } from "../../conformance/contract/text.ts";
import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import { traits } from "../lib/mix.ts";
import type { LoadPlan } from "./context.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";
import { duration } from "../../conformance/contract/duration.ts";
import type { Profile } from "../../conformance/contract/profile.ts";

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
