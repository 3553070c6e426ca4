import type { Limits } from "../contract/limits.ts";

/** What a tolerance's default may depend on. */
export interface ToleranceContext {
  readonly limits: Pick<Limits, "pushDelaysMs">;
  /** Whether a hook moves the target's clock, or it runs by itself. */
  readonly clock: "virtual" | "real";
  /** Lifetime of the credential under test, in milliseconds. */
  readonly lifetimeMs: number;
}

interface Tolerance {
  readonly unit: "ms" | "share";
  /** The profile key that overrides the default; without one it cannot be set. */
  readonly profileKey?: `tolerances.${string}`;
  readonly default: number | ((context: ToleranceContext) => number);
  readonly reason: string;
}

const firstDelayMs = ({ limits }: Pick<ToleranceContext, "limits">): number => limits.pushDelaysMs[0] ?? 0;

/** Every tolerance that a verdict depends on; the only place to change one. */
export const tolerances = {
  lifetimeGuard: {
    unit: "ms",
    profileKey: "tolerances.lifetimeGuardMs",
    default: ({ clock }: Pick<ToleranceContext, "clock">) => (clock === "virtual" ? 500 : 1_500),
    reason:
      "Clocks round and answers take time, so a probe this close to the end of a lifetime proves nothing.",
  },
  lifetimeResolution: {
    unit: "ms",
    profileKey: "tolerances.lifetimeResolutionMs",
    default: ({ lifetimeMs }: Pick<ToleranceContext, "lifetimeMs">) => Math.min(lifetimeMs * 0.01, 60_000),
    reason:
      "Slow hooks, answers and machines make the verdict on a lifetime coarser; if it is coarser than this, it cannot pass.",
  },
  lifetimeCloseness: {
    unit: "ms",
    default: 100,
    reason:
      "The time that a request takes on a good day: probes need not come closer than this, however small the guard.",
  },
  lifetimeClosenessShare: {
    unit: "share",
    default: 1 / 20,
    reason:
      "Share of the lifetime: how close to the guard a probe must come if the lifetime is short or the target does not tell its time.",
  },
  mendedShare: {
    unit: "share",
    default: 1 / 20,
    reason:
      "Share of the lifetime: how much farther from the end than the probe that showed a breach a later probe in the ledger may be, and still show that the breach is fixed.",
  },
  visibility: {
    unit: "ms",
    profileKey: "tolerances.visibilityMs",
    default: 30_000,
    reason: "The document does not say how soon a new notification is listed.",
  },
  visibilityInRealTime: {
    unit: "ms",
    profileKey: "tolerances.visibilityMs",
    default: 2_000,
    reason: "A service may index in real time even if a hook moves its clock.",
  },
  clocksApart: {
    unit: "ms",
    default: 120_000,
    reason: "The clocks of a service's nodes may differ by this much.",
  },
  requestTimeout: {
    unit: "ms",
    profileKey: "tolerances.requestTimeoutMs",
    default: 10_000,
    reason: "An answer that takes longer counts as no answer.",
  },
  hookAnswer: {
    unit: "ms",
    default: 10_000,
    reason: "A hook that takes longer is considered hung; its own `timeoutMs` overrides this.",
  },
  clockAdvanceAnswer: {
    unit: "ms",
    default: 60_000,
    reason:
      "An advance may answer only once all pushes that it triggered are over, which takes long on a busy machine; the hook's own `timeoutMs` overrides this.",
  },
  outage: {
    unit: "ms",
    profileKey: "tolerances.outageMs",
    default: 60_000,
    reason: "A restarting target refuses connections for a while.",
  },
  pushLateness: {
    unit: "ms",
    profileKey: "tolerances.latenessMs",
    default: (context: Pick<ToleranceContext, "limits">) => Math.max(200, firstDelayMs(context) / 3),
    reason:
      "The document does not say how late a push may be: a third of the first delay, 10 s by the document.",
  },
  pushLatenessShare: {
    unit: "share",
    default: 0.15,
    reason: "A push may be late by this share of its delay, if that is more than pushLateness.",
  },
  pushEarliness: {
    unit: "ms",
    default: (context: Pick<ToleranceContext, "limits" | "clock">) =>
      context.clock === "virtual" ? 0 : Math.max(50, Math.min(1_000, firstDelayMs(context) / 30)),
    reason:
      "In real time senders round to whole seconds and connections take time. If a hook moves the clock, the uncertainty of each moment is enough.",
  },
  firstPushLatenessShare: {
    unit: "share",
    default: 2 / 3,
    reason:
      "Share of the first delay: a first push that is later than this may be a delayed one (R3, R4, R8).",
  },
  firstPushLatenessUnderLoad: {
    unit: "ms",
    default: Infinity,
    reason:
      "Under load a first push waits its turn. That is measured as delivery delay and breaks no schedule.",
  },
  pushResolutionShare: {
    unit: "share",
    default: 1 / 2,
    reason:
      "Slow hooks make the moments of pushes coarser, and the verdict says how coarse. If no notification shows a push more exactly than to this share of its delay, the verdict cannot pass.",
  },
} as const satisfies Readonly<Record<string, Tolerance>>;
