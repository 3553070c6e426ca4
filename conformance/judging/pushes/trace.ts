import type { TimeInterval } from "../interval.ts";
import type { Limits } from "../../contract/limits.ts";
import type { JournalMark, LostStage, Push, PushAction } from "../../contract/push.ts";

export interface SeenPush {
  readonly line: Push & { readonly n: number; readonly epoch: string };
  /** When it reached the receiver, on the push run's scale. */
  readonly at: TimeInterval;
  /** When its failure (or success) was complete, on the same scale; undefined if unknown. */
  readonly ended: TimeInterval | undefined;
  /** What the receiver was to do with it; undefined for what is no push at the callback address. */
  readonly action: PushAction | undefined;
}

/** Why a notification was created, which is also what rules pick it by. */
export type Purpose =
  /** Acknowledged at its first push. */
  | "prompt"
  /** Never acknowledged. */
  | "never"
  /** Fails in one way alone at first, and is acknowledged then. */
  | "kind"
  /** Acknowledged at a later push. */
  | "late"
  /** Answered with the expected code and a wrong body at first. */
  | "body"
  /** Answered with another success code at first. */
  | "code"
  /** Answered with a success code at first, and cut. */
  | "cut"
  /** First pushed while the receiver does not listen. */
  | "refused"
  /** First pushed while the receiver shows an untrusted certificate. */
  | "untrusted"
  /** Gets no answer at all at first. */
  | "hang"
  /** Never gets an answer at all. */
  | "unanswered"
  /** Gets the beginning of an answer that is no acknowledgement, and no end of it, at first. */
  | "stall"
  /** Triggered while others hang. */
  | "beside-hang"
  /** Fails plainly, but for one push after the first that ends in a way which takes the whole receiver, or real time. */
  | "ending";

export interface LaterEnding {
  /** Which push, from 1. */
  readonly push: number;
  readonly kind: "refused" | "untrusted" | "hang";
}

/** What the document promises of a notification whose pushes are answered so. */
export type Expectation =
  | {
      readonly kind: "pushes";
      /** How often it is pushed: until its acknowledgement, or as often as may be. */
      readonly pushes: number;
    }
  /** The document leaves open whether it is pushed again. */
  | {
      readonly kind: "open";
      /** It has to be pushed again where the service was seen to judge the acknowledgement's body too. */
      readonly unlessBodyDecides?: true;
      /** An answer whose body holds no part of an acknowledgement, which shows whether the body counts. */
      readonly saysNothing?: true;
    };

/** What one notification of the push run is to meet. */
export interface PushCasePlan {
  readonly name: string;
  /** How the row is used, which follows from its answers and its expectation. */
  readonly purpose: Purpose;
  readonly expect: Expectation;
  /** First the action for the first push, and so on; the last one repeats. */
  readonly actions: readonly PushAction[];
  /** Notifications of the same family share an account. */
  readonly family?: string;
  /** It is looked up in the list once so many of its pushes have come. */
  readonly readAtPush?: number;
  readonly meets?: LaterEnding;
}

/** One notification of the push run and all that became of it. */
export interface PushCase extends PushCasePlan {
  readonly accountId: string;
  /** Its id as the hook told it. */
  readonly notificationId: string | undefined;
  /** When its event was triggered, on the push run's scale. */
  readonly triggered: TimeInterval;
  readonly pushes: readonly SeenPush[];
}

/** An interval in which the receiver did not listen, or showed a certificate that no sender trusts. */
export interface ReceiverOutage {
  readonly kind: "closed" | "untrusted";
  /** Where the receiver's own journal stood when it began and when it was over. */
  readonly from: JournalMark;
  readonly until: JournalMark;
  /** When it was over at the latest, on the push run's scale. */
  readonly overMs?: number;
  /** When it began at the earliest, on the same scale, where it is for later pushes. */
  readonly sinceMs?: number;
}

/** A connection that was over before the receiver could read a push from it. */
export interface LostConnection {
  /** Number of the journal's line that tells of it. */
  readonly n: number;
  readonly stage: LostStage;
  /** Where it came from, where that is known. */
  readonly address?: string;
  /** When it was opened, on the push run's scale. */
  readonly at: TimeInterval;
  /** The same on the receiver's own clock. */
  readonly openedMs?: number;
}

/** A look into the list for a notification whose pushes were still under way. */
export interface ListLook {
  readonly name: string;
  readonly push: SeenPush;
  /** When it was looked for last, on the push run's scale. */
  readonly at: TimeInterval;
  /** What the last look came to: undefined where it was listed. */
  readonly missing: string | undefined;
}

/** Notifications and their pushes, with the uncertainty of each moment: all that most judges need. */
export interface PushTrace {
  /** The scale of all moments: the target's own clock, or the receiver's monotonic one. */
  readonly clock: "virtual" | "real";
  readonly limits: Pick<Limits, "pushDelaysMs" | "maxPushes">;
  /** How late a push may be, as the profile says or by default, in milliseconds. */
  readonly latenessMs: number;
  /** How much earlier than its delay says a push may seem to come, in milliseconds. */
  readonly earlyGuardMs: number;
  /** How late a first push may be, in milliseconds; a default if absent. */
  readonly firstLatenessMs?: number;
  readonly acknowledgedStatus: number;
  readonly pushCases: readonly PushCase[];
  /** Until when pushes were watched for. */
  readonly watchedUntil: TimeInterval;
}

/** What one push run saw: pure data, from which every push rule judges. */
export interface PushRun extends PushTrace {
  readonly callbackUrl: string;
  /** Pushes of no push case: of other rules' events, or of unknown origin. */
  readonly others: readonly SeenPush[];
  readonly outages: readonly ReceiverOutage[];
  /** Connections that were over before the receiver could read a push: handshakes that failed, requests that were cut off. */
  readonly lost: readonly LostConnection[];
  /** Since when pushes were watched for. */
  readonly watchedFromMs: number;
  /**
   * Whether the target said each time, when its clock had been moved, that nothing was under way any more. Where it
   * did not, what moves a push on may have come to its sender's notice later on its clock than the brackets say.
   */
  readonly isAwaited: boolean;
  readonly listLooks: readonly ListLook[];
  /** How long after its event a pushed notification may be missing from the list, in milliseconds. */
  readonly visibilityMs: number;
  /** Whether pushes without an answer had to be waited for in real time, as their sender's time-out goes by another clock. */
  readonly hungInRealTime: boolean;
}
