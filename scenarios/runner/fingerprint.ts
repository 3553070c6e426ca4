import { createHash } from "node:crypto";
import { canonicalJson } from "../../conformance/contract/verdict.ts";
import type { FoundK6 } from "./k6/find.ts";
import type { LoadPlan, LoadTarget } from "./context.ts";
import { machine, machineText } from "./machine.ts";

/** What has to be equal for the figures of two runs to be comparable, part by part. Secrets and ports have no part in it. */
export const fingerprintOf = (
  { name, profile, limits }: LoadTarget,
  k6: FoundK6,
  plan: Pick<LoadPlan, "scenario" | "rate" | "durationMs" | "warmUpMs" | "segment"> & {
    readonly shape: string;
  },
): Readonly<Record<string, string>> => {
  const { slos, tolerances, acknowledgement, authorize } = profile;
  return {
    target: name,
    profile: digest({
      limits,
      slos,
      tolerances,
      acknowledgement,
      authorizeFields: Object.keys(authorize ?? {}),
    }),
    scenario: plan.scenario,
    shape: plan.shape,
    rate: String(plan.rate),
    duration: String(plan.durationMs),
    warmUp: String(plan.warmUpMs),
    ...(plan.segment === undefined ? {} : { segments: String(plan.segment.count) }),
    k6: k6.version,
    machine: machineText(machine()),
  };
};

const digest = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex").slice(0, 16);
