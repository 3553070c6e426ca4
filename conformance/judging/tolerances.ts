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
      "Slow hooks, answers and machines make the verdict on a lifetime less precise; if its resolution is coarser than this, the rule cannot pass.",
  },
  lifetimeCloseness: {
    unit: "ms",
    default: 100,
    reason:
      "The time that a fast request takes: probes need not come closer to the guard than this, however small the guard is.",
  },
  lifetimeClosenessShare: {
    unit: "share",
    default: 1 / 20,
    reason:
      "A share of the lifetime: how close to the guard a probe must come if the lifetime is short or the profile has no hooks.clock.now.",
  },
  lifetimeUntold: {
    unit: "ms",
    default: 3_600_000,
    reason:
      "Without hooks.clock.now the target's time is as uncertain as the run is long. The resolution of a lifetime may be coarser for it, but by no more than this: no run that moves the clock takes longer.",
  },
  mendedShare: {
    unit: "share",
    default: 1 / 20,
    reason:
      "A share of the lifetime. A later probe in the ledger shows that a breach is fixed if it is at most this much farther from the end than the probe that showed the breach.",
  },
  pushLagFactor: {
    unit: "share",
    default: 5 / 4,
    reason:
      "A push may be on its way in real time for longer than any that was seen. It counts as lost in an outage only if that went on this many times as long as the slowest one took.",
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
      "An advance may answer only when all pushes that it triggered have ended, which takes long on a busy machine; the hook's own `timeoutMs` overrides this.",
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
      "The document does not say how late a push may be. The default is a third of the first delay, which is 10 s with the document's delays.",
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
      "In real time, senders round to whole seconds and connections take time. If a hook moves the clock, the uncertainty of each moment already allows for that.",
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
      "Under load, a first push waits for its turn. The wait is measured as delivery delay and does not break the schedule.",
  },
  pushResolutionShare: {
    unit: "share",
    profileKey: "tolerances.pushResolutionShare",
    default: 1 / 2,
    reason:
      "Slow hooks make the moments of pushes less precise; the verdict says how precise they are. If no notification shows a push to within this share of its delay, the rule cannot pass.",
  },
} as const satisfies Readonly<Record<string, Tolerance>>;
