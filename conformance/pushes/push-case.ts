import { given } from "../contract/given.ts";
import type { PushAction } from "../contract/push.ts";
import type { Expectation, PushCasePlan, Purpose } from "../judging/pushes/trace.ts";

export interface PushCaseOptions {
  readonly acknowledgedStatus: number;
  readonly maxPushes: number;
  /** Another address of the receiver, for redirects. */
  readonly elsewhere: (name: string) => string;
  /** Selects which of the less usual statuses are tried. */
  readonly seed: number;
  /**
   * Tries only a few kinds of failure through all pushes (`of lasting`), because with short delays many pushes due at
   * once would overload the machine, or also before an acknowledgement (`of all`).
   */
  readonly fewKinds?: "of lasting" | "of all" | undefined;
  /** Triggers events beside others at moments at which a clock moved by a hook stops anyway; in real time, away from them. */
  readonly isMoved?: boolean;
}

/** What is triggered together. */
export interface Batch {
  /** What `after` counts from: the main moment, when notifications are given up, or when pushes may be left unanswered. */
  readonly from: "main" | "given up" | "silence";
  /** As a multiple of the first delay. */
  readonly after: number;
  readonly plans: readonly PushCasePlan[];
}

/** One row: what the receiver does with a notification's pushes, and what the document expects. */
export interface Row {
  readonly name: string;
  /** The answers, push by push; the last one repeats. */
  readonly on: readonly PushAction[];
  readonly expect: Expectation;
  /** Notifications of the same family share an account. */
  readonly family?: string;
  /** Look it up in the list once this many of its pushes have come. */
  readonly readAtPush?: number;
  /** The number of its push that gets no answer, while all others fail plainly. */
  readonly hangsAt?: number;
  /** What else is going on when it is triggered. */
  readonly during?: "refused" | "untrusted" | "silence";
}

export const pushes = (count: number): Expectation => ({ kind: "pushes", pushes: count });
export const open = (more: Omit<Extract<Expectation, { kind: "open" }>, "kind"> = {}): Expectation => ({
  kind: "open",
  ...more,
});

export const status = (code: number, more: object = {}): PushAction => ({
  kind: "answer",
  status: code,
  ...more,
});
export const hang = (code?: number): PushAction => ({
  kind: "hang",
  ...(code === undefined ? {} : { status: code }),
});
export const cut = (when: "head" | "half-answer", code: number): PushAction => ({
  kind: "close",
  when,
  status: code,
});
export const reset: PushAction = { kind: "reset" };
export const closed = (when: "before-answer" | "status-line"): PushAction => ({ kind: "close", when });

/** The usual failure. */
export const fails = status(500);

/** The acknowledgement that this run's profile defines. */
export const acknowledgement = (code: number): PushAction => status(code);

const isSlow = (action: PushAction | undefined): boolean =>
  action?.kind === "hang" || (action?.kind === "answer" && (action.delayMs ?? 0) > 0);

/** Derives a row's purpose from its answers and expectation. */
const purposeOf = ({ on, expect, during, hangsAt }: Row): Purpose => {
  const [first, second] = on;
  if (during === "refused" || during === "untrusted") return during;
  if (hangsAt !== undefined || isSlow(first)) return "silent";
  if (expect.kind === "open") return "open";
  if (expect.pushes === 1) return "prompt";
  return second === undefined ? "never" : "late";
};

export const planOf = (row: Row): PushCasePlan => {
  const { name, on, expect, family, readAtPush, hangsAt, during } = row;
  return {
    name,
    purpose: purposeOf(row),
    expect,
    actions: on,
    ...given({ family, readAtPush, hangsAt }),
    ...(during === "silence" ? { isBesideSilence: true } : {}),
  };
};

/** Push cases with these purposes serve only these rules; all others serve many, or are what these are compared with. */
const servedBy: Partial<Record<Purpose, readonly string[]>> = {
  refused: ["push.unacknowledged-retries", "push.schedule", "push.cap"],
  untrusted: ["push.certificate-check", "push.unacknowledged-retries", "push.cap", "push.schedule"],
  silent: [
    "push.unacknowledged-retries",
    "push.late-acknowledgement",
    "push.schedule",
    "push.cap",
    "push.no-head-of-line-blocking",
    "push.sender-timeout",
    "push.acknowledgement-body",
  ],
  open: ["push.acknowledgement-body", "push.unacknowledged-retries", "push.accepted-codes", "push.cap"],
};

/** Whether any of the rules to be judged needs such a push case. */
export const isNeeded = (
  { purpose, isBesideSilence }: Pick<PushCasePlan, "purpose" | "isBesideSilence">,
  requirements: ReadonlySet<string> | undefined,
): boolean => {
  const serves = isBesideSilence === true ? ["push.no-head-of-line-blocking"] : servedBy[purpose];
  return requirements === undefined || (serves?.some((id) => requirements.has(id)) ?? true);
};

/** The batches, reduced to what these rules need. */
export const neededOf = (
  batches: readonly Batch[],
  requirements: ReadonlySet<string> | undefined,
): readonly Batch[] =>
  batches
    .map(({ plans, ...batch }) => ({
      ...batch,
      plans: plans.filter((plan) => isNeeded(plan, requirements)),
    }))
    .filter(({ plans }) => plans.length > 0);

export const times = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index + 1);
