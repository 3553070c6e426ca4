import type { FetchedProfile } from "../../conformance/contract/profile-fetched.ts";
import { traits } from "../lib/mix.ts";
import type { LoadPlan } from "./context.ts";
import { checkSafety } from "./judge/safety.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

/**
 * Refuses a load that cannot or must not run: a scenario that lacks what it needs, a host that the
 * profile does not release, a rate or a duration beyond the ceilings. Throws ConfigurationError before
 * anything is sent.
 */
export const checkPlan = (
  { profile }: { readonly profile: FetchedProfile },
  plan: Pick<LoadPlan, "scenario" | "rate" | "durationMs" | "segment">,
): void => {
  if (plan.segment !== undefined && plan.scenario === "push")
    throw new ConfigurationError([
      "--segment plays token, notifications and mixed; --scenario push is accepted without it: its receiver, its plan of failures and the target's clock, which is moved at the end, are of one machine",
    ]);
  const { events } = traits[plan.scenario];
  const trigger = profile.hooks?.events?.trigger;
  const hook = trigger !== undefined && "http" in trigger ? [trigger.http.url] : [];
  checkSafety(profile, events === "none" ? [] : hook, plan);
  if (events !== "needed") return;
  const missing = [
    ...(hook.length === 0
      ? ["`hooks.events.trigger` as an HTTP hook (a command cannot be called under load)"]
      : []),
    ...(profile.hooks?.callback === undefined ? ["`hooks.callback.register`"] : []),
  ];
  if (missing.length > 0)
    throw new ConfigurationError([
      `--scenario ${plan.scenario} needs ${missing.join(" and ")} in the profile`,
    ]);
};
