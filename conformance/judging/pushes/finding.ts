import { isObject, parseJson } from "../../contract/json.ts";
import { KEPT_CHARACTERS } from "../../contract/push.ts";
import { counted } from "../../contract/text.ts";
import { duration } from "../../contract/duration.ts";
import type { Facts } from "../../contract/verdict.ts";
import { fail, pass, inconclusive, type CaseVerdict } from "../case-verdict.ts";
import { between, overlap, type TimeInterval } from "../interval.ts";
import { isAcknowledged } from "./answer.ts";
import {
  isSilentFirst,
  type PushRun,
  type PushTrace,
  type Purpose,
  type SeenPush,
  type PushCase,
} from "./trace.ts";

/** What a push run shows about one requirement. */
export interface Finding {
  readonly judgement: CaseVerdict;
  /** How many notifications (or pushes) were decisive. */
  readonly cases: number;
  readonly facts?: Facts | undefined;
  /** How many notifications break the requirement; default 1. */
  readonly broken?: number;
  /** The notifications whose pushes are missing or late; absent if it could be any of them. */
  readonly lacking?: readonly PushCase[];
  /** What would settle an undecided finding, if another run alone would not. */
  readonly settle?: string | undefined;
  /** The pushes that show a breach. */
  readonly evidence?: readonly SeenPush[];
}

/** One decided notification: it keeps the promise, or breaks it as described. */
export type Part =
  | "passed"
  | {
      readonly expected: string;
      readonly actual: string;
      readonly evidence: readonly SeenPush[];
      /** The notification, if the breach is a push that did not come. */
      readonly lacking?: PushCase | undefined;
    };

/** Merges parts into one finding: failed if any part is broken, inconclusive if there are no parts. */
export const findingOf = (parts: readonly Part[], whyNone: string, facts?: Facts): Finding => {
  const broken = parts.filter((part) => part !== "passed");
  const [first] = broken;
  const cases = parts.length;
  if (first === undefined) return { judgement: cases === 0 ? inconclusive(whyNone) : pass, cases, facts };
  const more = broken.length === 1 ? "" : `; ${counted(broken.length - 1, "more notification")} like it`;
  return {
    judgement: fail(first.expected, first.actual + more),
    cases,
    broken: broken.length,
    evidence: first.evidence,
    lacking: broken.flatMap(({ lacking = [] }) => lacking),
    facts,
  };
};

export const undecidedFinding = (why: string, more: Pick<Finding, "settle" | "facts"> = {}): Finding => ({
  judgement: inconclusive(why),
  cases: 0,
  ...more,
});

export const ofPurpose = (
  { pushCases }: Pick<PushTrace, "pushCases">,
  ...purposes: readonly Purpose[]
): readonly PushCase[] => pushCases.filter(({ purpose }) => purposes.includes(purpose));

/** Those whose first push was left without any answer. */
export const silentFirst = ({ pushCases }: Pick<PushTrace, "pushCases">): readonly PushCase[] =>
  pushCases.filter((one) => isSilentFirst(one) && one.pushes[0]?.line.action === "hang");

/** Those of them that were pushed. */
export const pushedOf = (
  trace: Pick<PushTrace, "pushCases">,
  ...purposes: readonly Purpose[]
): readonly PushCase[] => ofPurpose(trace, ...purposes).filter(({ pushes }) => pushes.length > 0);

/** Index of the acknowledged push, according to the receiver; -1 if there is none. */
export const acknowledgedAt = (
  pushCase: PushCase,
  { acknowledgedStatus }: Pick<PushTrace, "acknowledgedStatus">,
): number => pushCase.pushes.findIndex((push) => isAcknowledged(push, acknowledgedStatus));

/**
 * Pushes that began after the push with this index was answered. The receiver's own timestamps decide; if the
 * clock is moved by a hook, these show no time, and the step of the push run decides.
 */
export const pushesAfter = ({ pushes }: PushCase, index: number): readonly SeenPush[] => {
  const answered = pushes[index];
  if (answered === undefined) return [];
  const { answeredMs = Infinity, uncertaintyMs, epoch } = answered.line;
  const { latestMs } = answered.ended ?? { latestMs: Infinity };
  return pushes.filter(
    ({ line, at }) =>
      (line.epoch === epoch && line.firstByteMs - line.uncertaintyMs > answeredMs + uncertaintyMs) ||
      (at.earliestMs >= latestMs && at.latestMs > latestMs),
  );
};

/** Pushes that name no notification and no account, so they cannot be matched to an event. */
export const namelessPushes = ({ others }: PushRun): readonly SeenPush[] =>
  others.filter(
    ({ line }) =>
      line.action !== "not-a-push" && line.notificationId === undefined && line.accountId === undefined,
  );

/** The body as a JSON object; undefined if it is not one. */
export const bodyOf = ({ line }: SeenPush): Readonly<Record<string, unknown>> | undefined => {
  const value = parseJson(line.body);
  return isObject(value) ? value : undefined;
};

/** Whether the receiver read a notification but did not keep all of its body, so that only its id and sum are known. */
export const isShortened = ({ line }: SeenPush): boolean =>
  line.notificationId !== undefined && line.body.length >= KEPT_CHARACTERS - 1;

/** "1 push" or "3 pushes". */
export const pushCount = (count: number): string => `${count} push${count === 1 ? "" : "es"}`;

/** By notifications, since each push asks. */
const gaveUp = new WeakMap<readonly PushCase[], readonly SeenPush[]>();

/** The pushes whose sender waited for an answer that never came, until it gave up. */
const abandoned = (trace: Pick<PushTrace, "pushCases">): readonly SeenPush[] => {
  const known = gaveUp.get(trace.pushCases);
  if (known !== undefined) return known;
  const found = trace.pushCases
    .filter((one) => isSilentFirst(one))
    .flatMap(({ pushes }) =>
      pushes.filter(({ line }) => line.action === "hang" && line.outcome === "abandoned"),
    );
  gaveUp.set(trace.pushCases, found);
  return found;
};

/** How long it waited for each, in milliseconds on the push run's scale. */
const patienceOf = (trace: Pick<PushTrace, "pushCases">): readonly TimeInterval[] =>
  abandoned(trace).flatMap(({ at, ended }) => (ended === undefined ? [] : [between(at, ended)]));

/**
 * A breach if there is any; otherwise undecided if any notification is, because the clock was moved over its pushes, or this
 * machine was too busy to answer them in time. `what` goes on from their number.
 */
export const decidedFinding = (
  parts: readonly (Part | "undecided")[],
  whyNone: string,
  facts: Finding["facts"],
  what: string,
  { clock }: Pick<PushTrace, "clock">,
): Finding => {
  const decided = parts.filter((part) => part !== "undecided");
  const finding = findingOf(decided, whyNone, facts);
  if (finding.judgement.kind === "failed" || decided.length === parts.length) return finding;
  const { why, settle } = whyGivenUp[clock];
  return undecidedFinding(
    `${parts.length - decided.length} of ${parts.length} notifications ${what}, but ${why}`,
    {
      facts,
      settle,
    },
  );
};

const whyGivenUp = {
  virtual: {
    why: "the target's clock was moved while a push was under way, or this machine was too busy to answer it at once, so the sender may have given up on it before",
    settle: "a hooks.clock.advance that answers once every push under way has ended, or a less busy machine",
  },
  real: {
    why: "this machine was too busy to answer a push at once, so the sender may have given up on it before",
    settle: "a less busy machine, or a sender that waits longer for an answer",
  },
} as const;

/** No sender gives up sooner, in milliseconds. */
const LEAST_PATIENCE_MS = 1_000;

/**
 * Whether a sender may have given up on a push before its answer arrived: on a clock that was moved meanwhile, or in real
 * time, in which sockets time out whatever the target's clock is, because this machine was busy. Its next push is then
 * one after a failure.
 */
export const mayHaveTimedOut = (
  push: SeenPush,
  trace: Pick<PushTrace, "pushCases" | "clock" | "latenessMs" | "unrestMs" | "stalls">,
): boolean => {
  const realWaits = abandoned(trace).map(({ line }) => answeredAfterMs(line) - line.uncertaintyMs);
  const { line, at, ended, isPassedOver } = push;
  const realWaitMs = answeredAfterMs(line) + line.uncertaintyMs + stalledAboutMs(push, trace);
  if (realWaitMs >= leastPatienceMs(realWaits)) return true;
  const waits = patienceOf(trace).map(({ earliestMs }) => earliestMs);
  return (
    isPassedOver === true && ended !== undefined && ended.latestMs - at.earliestMs >= leastPatienceMs(waits)
  );
};

/** For how long a push may have waited before it was read: for as long as this machine stalled about then. */
const stalledAboutMs = (
  { at, ended = at }: SeenPush,
  { latenessMs, unrestMs = 0, stalls = [] }: Pick<PushTrace, "latenessMs" | "unrestMs" | "stalls">,
): number => {
  const about = { earliestMs: at.earliestMs - (latenessMs - unrestMs), latestMs: ended.latestMs };
  return stalls.reduce((sum, stall) => sum + (overlap(stall, about) ? stall.forMs : 0), 0);
};

const leastPatienceMs = (waitsMs: readonly number[]): number =>
  Math.max(LEAST_PATIENCE_MS, waitsMs.length === 0 ? 0 : Math.min(...waitsMs));

const answeredAfterMs = ({ answeredMs, completeMs, firstByteMs }: SeenPush["line"]): number =>
  (answeredMs ?? completeMs) - firstByteMs;

/**
 * How many pushes of a notification came while an earlier one of it was still open, although the run had moved the clock
 * over that one: a sender whose sockets time out in real time, but which gives a push that it once took to another worker
 * after a while on the clock (a lease, a visibility timeout), sends these only because the clock was moved.
 */
export const sentOverOpen = (
  { pushes }: Pick<PushCase, "pushes">,
  { clock }: Pick<PushTrace, "clock">,
): number =>
  clock === "real"
    ? 0
    : pushes.filter((later, at) => pushes.slice(0, at).some((one) => isOpenAt(one, later, { clock }))).length;

/** Whether one push was still open as the other came, and the clock was moved over it. */
export const isOpenAt = (
  earlier: SeenPush,
  later: SeenPush,
  { clock }: Pick<PushTrace, "clock">,
): boolean => {
  if (clock === "real") return false;
  const { completeMs, answeredMs = Infinity } = earlier.line;
  const passedMs = later.line.firstByteMs - completeMs;
  const movedMs = later.at.earliestMs - earlier.at.latestMs - passedMs;
  return answeredMs > later.line.firstByteMs && movedMs >= LEAST_PATIENCE_MS;
};

const MOST_MOMENTS = 12;

/** A moment that is known less exactly than this, in milliseconds and as a share, is shown as an interval. */
const [NARROW_MS, NARROW_SHARE] = [2_000, 0.05];

/** When the pushes of one notification arrived, as a sentence. */
export const momentsText = (pushCase: PushCase | undefined): string => {
  if (pushCase === undefined) return "no push came";
  const { pushes, triggered } = pushCase;
  const moments = pushes.map(({ at }) => {
    const latestMs = Math.max(0, at.latestMs - triggered.earliestMs);
    const earliestMs = Math.max(0, at.earliestMs - triggered.latestMs);
    const isWide = latestMs - earliestMs > Math.max(NARROW_MS, NARROW_SHARE * latestMs);
    return `${isWide ? `${duration(earliestMs)} to ` : ""}${duration(latestMs)}`;
  });
  const more = moments.splice(MOST_MOMENTS).length;
  return `pushes of one notification came ${moments.join(", ")} after its event${more > 0 ? `, and ${more} more later` : ""}`;
};
