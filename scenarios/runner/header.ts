import type { ShapeName } from "../../conformance/contract/load-shape.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { machine } from "./machine.ts";
import type { LoadHeader } from "./record.ts";
import { segmentOf } from "./segment/play.ts";
import { arrivalRateFor } from "./settings.ts";

export const headerOf = (
  { target, k6, tool, clock }: LoadContext,
  plan: Omit<LoadPlan, "shape"> & { readonly shape: ShapeName },
): LoadHeader => ({
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
  rate: plan.rate,
  arrivalRate: arrivalRateFor(plan.scenario, plan.rate),
  ...(plan.tags === undefined ? {} : { tags: plan.tags }),
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
  ...(plan.segment === undefined ? {} : { segment: segmentOf({ target }, plan.segment) }),
  notes: [],
});
