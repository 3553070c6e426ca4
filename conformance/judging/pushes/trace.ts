import type { TimeInterval } from "../interval.ts";
import type { ExchangeRecord } from "../../contract/record.ts";
import type { Limits } from "../../contract/limits.ts";
import type { Stall } from "../../contract/push-ports.ts";
import type { JournalMark, LostStage, Push, PushAction } from "../../contract/push.ts";

export interface SeenPush {
  readonly line: Push & { readonly n: number; readonly epoch: string };
  /** When it reached the receiver, on the push run's scale. */
  readonly at: TimeInterval;
  /** When its success or failure was complete, on the same scale; undefined if unknown. */
  readonly ended: TimeInterval | undefined;
  /** What the receiver was told to do with it; undefined if it is not a push to the callback address. */
  readonly action: PushAction | undefined;
  /**
   * Set if the target's clock was moved from the beginning of `at` to the end of `ended` while the target reported that
   * something was under way: a sender that waited for an answer all the time may have given up on that clock.
   */
  readonly isPassedOver?: true;
}

/** What a notification of a push run is for. */
export type Purpose =
  /** Acknowledged at its first push. */
  | "prompt"
  /** Fails plainly, and is never acknowledged. */
  | "never"
  /** Fails in some way, and is acknowledged at a later push or gets several kinds of failures. */
  | "late"
  /** First answered with something of which the document does not say whether it acknowledges. */
  | "open"
  /** First pushed while the receiver is not listening. */
  | "refused"
  /** First pushed while the receiver shows an untrusted certificate. */
  | "untrusted"
  /** One of its pushes gets no answer, or only the beginning of one. */
  | "silent";

/** What the document promises for a notification whose pushes are answered as planned. */
export type Expectation =
  | {
      readonly kind: "pushes";
      /** How often it is pushed: until acknowledged, or up to the cap. */
      readonly pushes: number;
    }
  /** The document leaves open whether it is pushed again. */
  | {
      readonly kind: "open";
      /** It must be pushed again if the service was seen to judge the acknowledgement's body too. */
      readonly unlessBodyDecides?: true;
      /** The answer's body contains nothing of an acknowledgement, which shows whether the body counts. */
      readonly saysNothing?: true;
    };

/** The plan for one notification of the push run. */
export interface PushCasePlan {
  readonly name: string;
  /** What the notification is for, derived from its answers and expectation. */
  readonly purpose: Purpose;
  readonly expect: Expectation;
  /** The action for each push in order; the last one repeats. */
  readonly actions: readonly PushAction[];
  /** Notifications of the same family share an account. */
  readonly family?: string;
  /** Look it up in the list once this many of its pushes have come. */
  readonly readAtPush?: number;
  /** Its push of this number, from 1, gets no answer, while all others fail plainly. */
  readonly hangsAt?: number;
  /** Triggered while others get no answer. */
  readonly isBesideSilence?: true;
}

/** Whether its first push gets the beginning of an answer, and never its end. */
export const startsAnswer = ({ actions: [first] }: Pick<PushCasePlan, "actions">): boolean =>
  first?.kind === "hang" && first.status !== undefined;

/** Whether its first push gets no answer at all, and all later ones neither if `always`. */
export const isSilentFirst = (
  plan: Pick<PushCasePlan, "actions" | "purpose" | "hangsAt">,
  always?: "always",
): boolean =>
  plan.purpose === "silent" &&
  plan.hangsAt === undefined &&
  !startsAnswer(plan) &&
  (always === undefined || plan.actions.length === 1);

/** One notification of the push run and everything that happened to it. */
export interface PushCase extends PushCasePlan {
  readonly accountId: string;
  /** Its id as the event hook returned it. */
  readonly notificationId: string | undefined;
  /** When its event was triggered, on the push run's scale. */
  readonly triggered: TimeInterval;
  readonly pushes: readonly SeenPush[];
}

/** An interval in which the receiver was not listening, or showed an untrusted certificate. */
export interface ReceiverOutage {
  readonly kind: "closed" | "untrusted";
  /** Position of the receiver's journal when the outage began and when it ended. */
  readonly from: JournalMark;
  readonly until: JournalMark;
  /** The earliest moment at which it began, on the push run's scale; absent in journals that tell no more than lines. */
  readonly sinceMs?: number;
  /** The latest moment at which it was over, on the same scale. */
  readonly overMs?: number;
  /**
   * How long it went on in real time after the target's clock had passed its last moment, in milliseconds; absent if the
   * target reported that nothing was in flight, or in real time.
   */
  readonly heldMs?: number;
}

/** A connection that ended before the receiver could read a push from it. */
export interface LostConnection {
  /** Number of its journal line. */
  readonly n: number;
  readonly stage: LostStage;
  /** The sender's address, if known. */
  readonly address?: string;
  /** When it was opened, on the push run's scale. */
  readonly at: TimeInterval;
  /** The same on the receiver's own clock. */
  readonly openedMs?: number;
}

/** What a list request got that should have shown a notification, and the exchanges that show it. */
export interface Missing {
  readonly said: string;
  readonly exchanges: readonly ExchangeRecord[];
}

/** A lookup of a notification in the list while its pushes were still under way. */
export interface ListLook {
  readonly name: string;
  readonly push: SeenPush;
  /** When it was last looked up, on the push run's scale. */
  readonly at: TimeInterval;
  /** Undefined if it was listed at the last lookup. */
  readonly missing: Missing | undefined;
}

/** Why watching ended before its time. */
export interface Cut {
  readonly by: "interruption" | "max-wait" | "hook";
  /** The notifications whose events were not triggered. */
  readonly unplayed: readonly PushCasePlan[];
  /** What happened, and what would let it go on; absent after an interruption. */
  readonly why?: string;
  readonly settle?: string;
}

/** Notifications and their pushes, with the uncertainty of each moment: all that most judges need. */
export interface PushTrace {
  /** The clock of all moments: the target's own clock, or the receiver's monotonic one. */
  readonly clock: "virtual" | "real";
  /** Whether the target's clock was seen to stand still unless it is moved: then no sender is late by its work. */
  readonly isMovedOnly?: boolean;
  readonly limits: Pick<Limits, "pushDelaysMs" | "maxPushes">;
  /** How late a push may be, by the profile or by default, in milliseconds. */
  readonly latenessMs: number;
  /** The part of it that only allows for this machine and the network: any push may be as late, whatever others are. */
  readonly unrestMs?: number;
  /** When this machine could not run the receiver, in real time; none if absent. */
  readonly stalls?: readonly Stall[];
  /** tolerances.pushResolutionShare of the profile. */
  readonly resolutionShare?: number | undefined;
  /** How much earlier than its delay a push may seem to come, in milliseconds. */
  readonly earlyGuardMs: number;
  /** How late a first push may be, in milliseconds; a default if absent. */
  readonly firstLatenessMs?: number;
  readonly acknowledgedStatus: number;
  readonly pushCases: readonly PushCase[];
  /** Connections that ended before the receiver could read a push: failed handshakes and cut-off requests. */
  readonly lost?: readonly LostConnection[];
  /** When watching for pushes stopped. */
  readonly watchedUntil: TimeInterval;
}

/** Everything one push run saw: pure data that every push rule judges. */
export interface PushRun extends PushTrace {
  readonly callbackUrl: string;
  /** Pushes that match no push case: from other rules' events, or of unknown origin. */
  readonly others: readonly SeenPush[];
  readonly outages: readonly ReceiverOutage[];
  readonly lost: readonly LostConnection[];
  /** When watching for pushes began. */
  readonly watchedFromMs: number;
  /**
   * Whether the target reported after every move of its clock that nothing was in flight. If not, a sender
   * may have noticed a failure later on its clock than the intervals say.
   */
  readonly isAwaited: boolean;
  /**
   * The longest that a first push was on its way in real time after the target's clock was moved to when it was due, in
   * milliseconds; absent if the target reports what is in flight, or in real time.
   */
  readonly lagMs?: number;
  readonly listLooks: readonly ListLook[];
  /** How long a pushed notification may be missing from the list after its event, in milliseconds. */
  readonly visibilityMs: number;
  /** Whether unanswered pushes had to be waited for in real time, because the sender's timeout runs on another clock. */
  readonly hungInRealTime: boolean;
  /** Set if watching ended before its time. */
  readonly cut?: Cut;
}
