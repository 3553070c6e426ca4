import os from "node:os";
import { given } from "../../conformance/contract/given.ts";
import type { LoadContext, LoadPlan, LoadTarget } from "./context.ts";
import { pick, type LoadHeader } from "./record.ts";
import type { SegmentPlan } from "./segment-plan.ts";
import { arrivalRateFor } from "./settings.ts";
import { createHash } from "node:crypto";
import type { Segment } from "../../conformance/contract/segments.ts";
import { canonicalJson } from "../../conformance/contract/verdict.ts";
import type { FoundK6 } from "./k6/find.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";

export const headerOf = ({ target, k6, tool, clock }: LoadContext, plan: LoadPlan): LoadHeader => ({
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
  ...pick(plan, ["scenario", "shape", "rate"]),
  arrivalRate: arrivalRateFor(plan.scenario, plan.rate),
  ...(plan.tags && { tags: plan.tags }),
  ...pick(plan, ["durationMs", "warmUpMs"]),
  virtualUsers: plan.virtualUsers ?? 0,
  k6: { version: k6.version, from: k6.from },
  machine: machine(),
  fingerprint: fingerprintOf(target, k6, plan),
  endpoints: [],
  objectives: [],
  rules: [],
  breaches: [],
  ...(plan.segment && { segment: segmentOf(target, plan.segment) }),
  notes: [],
});

export const segmentOf = ({ profile }: LoadTarget, plan: SegmentPlan): Segment => ({
  runId: plan.runId,
  index: plan.index,
  count: plan.count,
  startAt: new Date(plan.startAtMs).toISOString(),
  host: os.hostname(),
  clock: {},
  ...(profile.slos && { objectives: profile.slos }),
});

/** Everything that must be equal for two runs to be comparable, part by part, without secrets and ports. */
const fingerprintOf = (
  { name, profile, limits }: LoadTarget,
  k6: FoundK6,
  plan: LoadPlan,
): Readonly<Record<string, string>> => {
  const { slos, tolerances, acknowledgement, authorize = {} } = profile;
  const authorizeFields = Object.keys(authorize);
  return {
    target: name,
    profile: digest({ limits, slos, tolerances, acknowledgement, authorizeFields }),
    scenario: plan.scenario,
    shape: plan.shape,
    rate: String(plan.rate),
    duration: String(plan.durationMs),
    warmUp: String(plan.warmUpMs),
    ...given({
      visits: profile.load?.mixed && canonicalJson(profile.load.mixed),
      "virtual users": plan.virtualUsers === undefined ? undefined : String(plan.virtualUsers),
      accounts: profile.accounts && digest(profile.accounts),
      events: profile.hooks?.events && "hook",
    }),
    ...(plan.segment && { segments: String(plan.segment.count) }),
    k6: k6.version,
    machine: machineText(machine()),
  };
};

const digest = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 16);

export const machine = (): LoadRecord["machine"] => ({
  cores: os.availableParallelism(),
  processor: os.cpus()[0]?.model.trim() ?? "unknown",
  memoryMiB: Math.round(os.totalmem() / 1_048_576),
  platform: `${process.platform} ${process.arch}`,
  node: process.version,
});

export const machineText = ({ cores, processor, memoryMiB, platform }: LoadRecord["machine"]): string =>
  `${cores} × ${processor}, ${Math.round(memoryMiB / 1_024)} GiB, ${platform}`;
