import { duration } from "../../contract/duration.ts";
import type { Facts } from "../../contract/verdict.ts";
import { fail, pass, inconclusive, type CaseVerdict } from "../case-verdict.ts";
import { isAcknowledged } from "./answer.ts";
import type { PushRun, PushTrace, Purpose, SeenPush, PushCase } from "./trace.ts";

/** What the pushes of a push run say of one requirement. */
export interface Finding {
  readonly judgement: CaseVerdict;
  /** How many notifications (or pushes) were decisive. */
  readonly cases: number;
  readonly facts?: Facts;
  /** How many notifications break it; default 1. */
  readonly broken?: number;
  /** Notifications that break it because something of theirs did not come; left out where it may be any of them. */
  readonly lacking?: readonly PushCase[];
  /** What would settle what could not be decided, where more than another run is needed for it. */
  readonly settle?: string;
  /** The pushes that show a breach. */
  readonly evidence?: readonly SeenPush[];
}

/** One decided notification that keeps the promise, or does not. */
export type Part =
  | "passed"
  | {
      readonly expected: string;
      readonly actual: string;
      readonly evidence: readonly SeenPush[];
      /** The notification, where what breaks the promise is that something did not come. */
      readonly lacking?: PushCase;
    };

/** One finding of many parts: broken where one is, undecided where there is none. */
export const findingOf = (parts: readonly Part[], whyNone: string, facts?: Facts): Finding => {
  const broken = parts.filter((part) => part !== "passed");
  const [first] = broken;
  const lacking = broken.flatMap((part) => (part.lacking === undefined ? [] : [part.lacking]));
  const more = facts === undefined ? {} : { facts };
  if (first !== undefined)
    return {
      judgement: fail(
        first.expected,
        broken.length === 1
          ? first.actual
          : `${first.actual}; ${broken.length - 1} further such notifications`,
      ),
      cases: parts.length,
      broken: broken.length,
      evidence: first.evidence,
      lacking,
      ...more,
    };
  return { judgement: parts.length === 0 ? inconclusive(whyNone) : pass, cases: parts.length, ...more };
};

export const undecidedFinding = (why: string, settle?: string): Finding => ({
  judgement: inconclusive(why),
  cases: 0,
  ...(settle === undefined ? {} : { settle }),
});

export const ofPurpose = (
  { pushCases }: Pick<PushTrace, "pushCases">,
  ...purposes: readonly Purpose[]
): readonly PushCase[] => pushCases.filter(({ purpose }) => purposes.includes(purpose));

/** The push that was acknowledged, as the receiver recorded it; -1 where none was. */
export const acknowledgedAt = (
  pushCase: PushCase,
  { acknowledgedStatus }: Pick<PushTrace, "acknowledgedStatus">,
): number => pushCase.pushes.findIndex((push) => isAcknowledged(push, acknowledgedStatus));

/**
 * Pushes that began after the one with this index had been answered: by the receiver's own stamps, or,
 * as a clock that is moved by hand leaves these no time, by the step of the push run that they fell into.
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

/** Pushes that name no notification, so that they cannot be assigned to one. */
export const namelessPushes = ({ others }: PushRun): readonly SeenPush[] =>
  others.filter(
    ({ line }) =>
      line.action !== "not-a-push" && line.notificationId === undefined && line.accountId === undefined,
  );

/** The body as a JSON object; undefined where it is none. */
export const bodyOf = ({ line }: SeenPush): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(line.body);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

/** "1 push" or "3 pushes". */
export const pushCount = (count: number): string => `${count} push${count === 1 ? "" : "es"}`;

const MOST_LINES = 6;

/** A notification's pushes as the receiver's journal has them, in one sentence: line, moment after the event, and what each got. */
export const journalText = ({ pushes, triggered }: PushCase): string => {
  const lines = pushes
    .slice(0, MOST_LINES)
    .map(
      ({ line, at }) =>
        `line ${line.n} at ${duration(Math.max(0, at.latestMs - triggered.earliestMs))}: ${gotText(line)}`,
    );
  const more = pushes.length - lines.length;
  return `in the receiver's journal: ${lines.join("; ")}${more > 0 ? `; and ${more} more` : ""}`;
};

const gotText = ({ action, status }: SeenPush["line"]): string => {
  if (status !== undefined && action === "answer") return `status ${status}`;
  if (action === "hang") return status === undefined ? "no answer" : `status ${status} and no body`;
  if (action === "reset") return "a reset connection";
  if (action === "close")
    return status === undefined ? "a closed connection" : `half an answer with status ${status}`;
  return "no push was found in it";
};

/** When one notification's pushes came, as a sentence. */
export const momentsText = (pushCase: PushCase | undefined): string =>
  pushCase === undefined
    ? "no push came"
    : `pushes of one notification came ${pushCase.pushes.map(({ at }) => duration(Math.max(0, at.latestMs - pushCase.triggered.earliestMs))).join(", ")} after its event`;
