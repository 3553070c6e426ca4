import { isObject, parseJson } from "../../contract/json.ts";
import { KEPT_CHARACTERS } from "../../contract/push.ts";
import { duration } from "../../contract/duration.ts";
import { between, overlap } from "../interval.ts";
import { isAcknowledged } from "./answer.ts";
import {
  isSilentFirst,
  type PushRun,
  type PushTrace,
  type Purpose,
  type SeenPush,
  type PushCase,
} from "./trace.ts";

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

/** Why a notification decides nothing, and what would settle it. */
export interface Doubt {
  readonly why: string;
  readonly settle: string;
}

export const IN_FLIGHT =
  "a hooks.clock.advance that answers inFlight: 0 once everything it triggered has ended";

/** No sender gives up sooner, in milliseconds. */
const LEAST_PATIENCE_MS = 1_000;

/** By notifications, since each push asks. */
const patiences = new WeakMap<readonly PushCase[], ReturnType<typeof leastPatience>>();

/** The shortest time for which the sender waited for an answer that never came: in real time, and on the push run's scale. */
const leastPatience = (trace: Pick<PushTrace, "pushCases">) => {
  const gaveUp = silentFirst(trace).flatMap(({ pushes }) =>
    pushes.filter(({ line }) => line.action === "hang" && line.outcome === "abandoned"),
  );
  const leastOf = (waitsMs: readonly number[]): number =>
    Math.max(LEAST_PATIENCE_MS, waitsMs.length === 0 ? 0 : Math.min(...waitsMs));
  return {
    inRealTimeMs: leastOf(gaveUp.map(({ line }) => answeredAfterMs(line) - line.uncertaintyMs)),
    onClockMs: leastOf(
      gaveUp.flatMap(({ at, ended }) => (ended === undefined ? [] : [between(at, ended).earliestMs])),
    ),
  };
};

/**
 * Why a sender may have given up on a push before its answer arrived: its clock was moved meanwhile, or in real time, in
 * which sockets time out whatever the target's clock is, this machine was busy. Its next push is then one after a failure.
 */
export const mayHaveTimedOut = (
  push: SeenPush,
  trace: Pick<PushTrace, "pushCases" | "clock" | "latenessMs" | "unrestMs" | "stalls">,
): Doubt | undefined => {
  const { line, at, ended, isPassedOver } = push;
  const patience = patiences.get(trace.pushCases) ?? leastPatience(trace);
  patiences.set(trace.pushCases, patience);
  const answeredMs = answeredAfterMs(line) + line.uncertaintyMs + stalledAboutMs(push, trace);
  if (answeredMs >= patience.inRealTimeMs) {
    const least = duration(patience.inRealTimeMs);
    return {
      why: `this machine was too busy: an answer took up to ${duration(answeredMs)}, and a sender may give up after ${least}`,
      settle: `a less busy machine, which answers each push within ${least}`,
    };
  }
  const movedMs = ended === undefined || isPassedOver !== true ? 0 : ended.latestMs - at.earliestMs;
  return movedMs < patience.onClockMs ? undefined : movedOver(duration(movedMs));
};

/** The clock was moved over a push that was under way. */
export const movedOver = (by: string): Doubt => ({
  why: `the target's clock was moved on by ${by} while a push was under way, and its sender may have given up on it`,
  settle: IN_FLIGHT,
});

/** For how long a push may have waited before it was read: for as long as this machine stalled about then. */
const stalledAboutMs = (
  { at, ended = at }: SeenPush,
  { latenessMs, unrestMs = 0, stalls = [] }: Pick<PushTrace, "latenessMs" | "unrestMs" | "stalls">,
): number => {
  const about = { earliestMs: at.earliestMs - (latenessMs - unrestMs), latestMs: ended.latestMs };
  return stalls.reduce((sum, stall) => sum + (overlap(stall, about) ? stall.forMs : 0), 0);
};

const answeredAfterMs = ({ answeredMs, completeMs, firstByteMs }: SeenPush["line"]): number =>
  (answeredMs ?? completeMs) - firstByteMs;

/**
 * Whether a push of a notification came while an earlier one of it was still open, although the run had moved the clock
 * over that one: a sender whose sockets time out in real time, but which gives a push that it once took to another worker
 * after a while on the clock (a lease, a visibility timeout), sends these only because the clock was moved.
 */
export const isSentOverOpen = ({ pushes }: PushCase, trace: Pick<PushTrace, "clock">): boolean =>
  pushes.some((later, at) => pushes.slice(0, at).some((one) => isOpenAt(one, later, trace)));

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
