import type { Limits } from "../contract/limits.ts";

/** What the default of a tolerance may depend on. */
export interface ToleranceContext {
  readonly limits: Pick<Limits, "pushDelaysMs">;
  /** Whether the target's clock is moved by a hook, or flows. */
  readonly clock: "virtual" | "real";
  /** How long the credential lives that is judged. */
  readonly lifetimeMs: number;
}

interface Tolerance {
  readonly unit: "ms" | "share";
  /** The key of the profile that replaces the default; without one it cannot be set. */
  readonly profileKey?: `tolerances.${string}`;
  readonly default: number | ((context: ToleranceContext) => number);
  readonly reason: string;
}

const firstDelayMs = ({ limits }: Pick<ToleranceContext, "limits">): number => limits.pushDelaysMs[0] ?? 0;

/** Every tolerance that a verdict depends on. This is the only place where one is changed. */
export const tolerances = {
  lifetimeGuard: {
    unit: "ms",
    profileKey: "tolerances.lifetimeGuardMs",
    default: ({ clock }: Pick<ToleranceContext, "clock">) => (clock === "virtual" ? 500 : 1_500),
    reason: "Clocks round and answers take time, so a probe this close to a lifetime's end decides nothing.",
  },
  lifetimeResolution: {
    unit: "ms",
    profileKey: "tolerances.lifetimeResolutionMs",
    default: ({ lifetimeMs }: Pick<ToleranceContext, "lifetimeMs">) => Math.min(lifetimeMs * 0.01, 60_000),
    reason:
      "Slow hooks, answers and machines make the verdict on a lifetime coarser; coarser than this it says too little to pass.",
  },
  lifetimeCloseness: {
    unit: "ms",
    default: 100,
    reason: "However small the guard is: what a request takes on a good day.",
  },
  lifetimeClosenessShare: {
    unit: "share",
    default: 1 / 20,
    reason:
      "Of a short lifetime, or one at a target that does not tell its time: how close to the guard a probe has to come.",
  },
  mendedShare: {
    unit: "share",
    default: 1 / 20,
    reason:
      "Of a lifetime: by how much less telling a later probe in the ledger may be than the one that showed a breach, to show it mended.",
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
    reason: "A service may index in real time although its clock is moved by a hook.",
  },
  clocksApart: {
    unit: "ms",
    default: 120_000,
    reason: "Nodes of one service may differ by so much in their clocks.",
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
    reason: "A hook that takes longer is taken for one that hangs; its own `timeoutMs` replaces this.",
  },
  clockAdvanceAnswer: {
    unit: "ms",
    default: 60_000,
    reason:
      "An advance may answer only once all pushes that it set off are over, which takes long on a busy machine; the hook's own `timeoutMs` replaces this.",
  },
  outage: {
    unit: "ms",
    profileKey: "tolerances.outageMs",
    default: 60_000,
    reason: "A target that restarts refuses connections for a while.",
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
    reason: "Of a long delay a push may be late by this share, where that is more than pushLateness.",
  },
  pushEarliness: {
    unit: "ms",
    default: (context: Pick<ToleranceContext, "limits" | "clock">) =>
      context.clock === "virtual" ? 0 : Math.max(50, Math.min(1_000, firstDelayMs(context) / 30)),
    reason:
      "In real time senders keep whole seconds and connections take time. On a clock that is moved by a hook the uncertainty of the moment is enough.",
  },
  firstPushLatenessShare: {
    unit: "share",
    default: 2 / 3,
    reason:
      "Of the first delay: a first push that is later could be one that is delayed itself (R3, R4, R8).",
  },
  firstPushLatenessUnderLoad: {
    unit: "ms",
    default: Infinity,
    reason:
      "Under load a first push waits its turn. That is measured as the delay of delivery, and breaks no schedule.",
  },
  pushResolutionShare: {
    unit: "share",
    default: 1 / 2,
    reason:
      "Slow hooks make the moments of pushes coarser, and the verdict says how coarse; one that no notification shows more exactly than to this share of its delay says too little to pass.",
  },
} as const satisfies Readonly<Record<string, Tolerance>>;
