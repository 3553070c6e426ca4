import { duration } from "../contract/duration.ts";
import type { Facts } from "../contract/verdict.ts";
import { broke, held, undecided, type Judgement } from "../judgement.ts";
import { isAcknowledged, type Campaign, type Purpose, type SeenPush, type Specimen } from "./data.ts";

/** What the pushes of a campaign say of one requirement. */
export interface Finding {
  readonly judgement: Judgement;
  /** How many notifications (or pushes) were decisive. */
  readonly cases: number;
  readonly facts?: Facts;
  /** How many notifications break it; one where left out. */
  readonly broken?: number;
  /** Notifications that break it because something of theirs did not come; left out where it may be any of them. */
  readonly lacking?: readonly Specimen[];
  /** What would settle what could not be decided, where more than another run is needed for it. */
  readonly settle?: string;
  /** The pushes that show a breach. */
  readonly evidence?: readonly SeenPush[];
}

/** One decided notification that keeps the promise, or does not. */
export type Part =
  | "held"
  | {
      readonly expected: string;
      readonly actual: string;
      readonly evidence: readonly SeenPush[];
      /** The notification, where what breaks the promise is that something did not come. */
      readonly lacking?: Specimen;
    };

/** One finding of many parts: broken where one is, undecided where there is none. */
export const findingOf = (parts: readonly Part[], whyNone: string, facts?: Facts): Finding => {
  const broken = parts.filter((part) => part !== "held");
  const [first] = broken;
  const lacking = broken.flatMap((part) => (part.lacking === undefined ? [] : [part.lacking]));
  const more = facts === undefined ? {} : { facts };
  if (first !== undefined)
    return {
      judgement: broke(
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
  return { judgement: parts.length === 0 ? undecided(whyNone) : held, cases: parts.length, ...more };
};

export const undecidedFinding = (why: string, settle?: string): Finding => ({
  judgement: undecided(why),
  cases: 0,
  ...(settle === undefined ? {} : { settle }),
});

export const ofPurpose = ({ specimens }: Campaign, ...purposes: readonly Purpose[]): readonly Specimen[] =>
  specimens.filter(({ purpose }) => purposes.includes(purpose));

/** The push that was acknowledged, as the receiver recorded it; -1 where none was. */
export const acknowledgedAt = (specimen: Specimen, campaign: Campaign): number =>
  specimen.pushes.findIndex((push) => isAcknowledged(push, campaign.acknowledgedStatus));

/**
 * Pushes that began after the one with this index had been answered: by the receiver's own stamps, or,
 * as a clock that is moved by hand leaves these no time, by the step of the campaign that they fell into.
 */
export const pushesAfter = ({ pushes }: Specimen, index: number): readonly SeenPush[] => {
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

/** Pushes that name no notification, so that nobody can tell which one they are of. */
export const namelessPushes = ({ others }: Campaign): readonly SeenPush[] =>
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
export const journalText = ({ pushes, triggered }: Specimen): string => {
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
export const momentsText = (specimen: Specimen | undefined): string =>
  specimen === undefined
    ? "no push came"
    : `pushes of one notification came ${specimen.pushes.map(({ at }) => duration(Math.max(0, at.latestMs - specimen.triggered.earliestMs))).join(", ")} after its event`;
