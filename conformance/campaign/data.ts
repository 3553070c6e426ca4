import type { Limits } from "../contract/limits.ts";
import type { LostStage, Push, PushAction } from "../contract/push.ts";
import type { Bracket } from "../world/exchange.ts";

/** One push as it reached the receiver. */
export interface SeenPush {
  readonly line: Push & { readonly n: number; readonly epoch: string };
  /** When it reached the receiver, on the campaign's scale. */
  readonly at: Bracket;
  /** When its failure (or success) was complete, on the same scale; undefined where nobody can tell. */
  readonly ended: Bracket | undefined;
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
  /** First pushed while the receiver does not listen. */
  | "refused"
  /** First pushed while the receiver shows a certificate that nobody trusts. */
  | "untrusted"
  /** Gets no answer at all at first. */
  | "hang"
  /** Never gets an answer at all. */
  | "unanswered"
  /** Gets the beginning of an answer that is no acknowledgement, and no end of it, at first. */
  | "stall"
  /** Triggered while others hang. */
  | "beside-hang";

/** What one notification of the campaign is to meet. */
export interface SpecimenPlan {
  readonly name: string;
  readonly purpose: Purpose;
  /** First the action for the first push, and so on; the last one repeats. */
  readonly actions: readonly PushAction[];
  /** Notifications of the same family share an account. */
  readonly family?: string;
  /** It is looked up in the list once so many of its pushes have come. */
  readonly readAtPush?: number;
}

/** One notification of the campaign and all that became of it. */
export interface Specimen extends SpecimenPlan {
  readonly accountId: string;
  /** Its id as the hook told it. */
  readonly notificationId: string | undefined;
  /** When its event was triggered, on the campaign's scale. */
  readonly triggered: Bracket;
  readonly pushes: readonly SeenPush[];
}

/** A stretch in which the receiver was not itself. */
export interface Disturbance {
  readonly kind: "closed" | "untrusted";
  /** Numbers of journal lines: those above `after` and up to `last` fall into it. */
  readonly after: number;
  readonly last: number;
  /** The same stretch on the receiver's own clock: what happened in it may be written down later. */
  readonly receiverMs?: { readonly fromMs: number; readonly untilMs: number };
  /** When it was over at the latest, on the campaign's scale. */
  readonly overMs?: number;
}

/** A connection that was over before the receiver could read a push from it. */
export interface LostConnection {
  /** Number of the journal's line that tells of it. */
  readonly n: number;
  readonly stage: LostStage;
  /** Where it came from, where that is known. */
  readonly address?: string;
  /** When it was opened, on the campaign's scale. */
  readonly at: Bracket;
  /** The same on the receiver's own clock. */
  readonly openedMs?: number;
}

/** A look into the list for a notification whose pushes were still under way. */
export interface ListLook {
  readonly name: string;
  /** The push after which it was looked for first. */
  readonly push: SeenPush;
  /** When it was looked for last, on the campaign's scale. */
  readonly at: Bracket;
  /** What the last look came to: undefined where it was listed. */
  readonly missing: string | undefined;
}

/** What one journey through time gave: pure data, from which every push rule judges. */
export interface Campaign {
  /** The scale of all moments: the target's own clock, or the receiver's monotonic one. */
  readonly clock: "virtual" | "real";
  readonly limits: Pick<Limits, "pushDelaysMs" | "maxPushes">;
  /** How late a push may be, as the profile says or by default, in milliseconds. */
  readonly latenessMs: number;
  /** How much earlier than its delay says a push may seem to come, in milliseconds. */
  readonly earlyGuardMs: number;
  readonly acknowledgedStatus: number;
  readonly callbackUrl: string;
  readonly specimens: readonly Specimen[];
  /** Pushes of no specimen: of other rules' events, or of nobody knows what. */
  readonly others: readonly SeenPush[];
  readonly disturbances: readonly Disturbance[];
  /** Connections that were over before the receiver could read a push: handshakes that failed, requests that were cut off. */
  readonly lost: readonly LostConnection[];
  /** Since when pushes were watched for. */
  readonly watchedFromMs: number;
  /**
   * Whether the target said each time, when its clock had been moved, that nothing was under way any more. Where it
   * did not, what moves a push on may have come to its sender's notice later on its clock than the brackets say.
   */
  readonly isAwaited: boolean;
  /** Looks into the list while pushes were under way. */
  readonly listLooks: readonly ListLook[];
  /** How long after its event a pushed notification may be missing from the list, in milliseconds. */
  readonly visibilityMs: number;
  /** Whether pushes without an answer had to be waited for in real time, as their sender's time-out goes by a clock of its own. */
  readonly hungInRealTime: boolean;
  /** Until when pushes were watched for. */
  readonly watchedUntil: Bracket;
}

/** Whether a push was answered with the expected code and the acknowledgement. */
export const isAcknowledged = ({ action, line }: SeenPush, expectedStatus: number): boolean =>
  action?.kind === "answer" &&
  (action.body ?? "acknowledge") === "acknowledge" &&
  line.status === expectedStatus &&
  line.action === "answer";

/** The later of two moments, and the stretch between others. */
export const shift = ({ earliestMs, latestMs }: Bracket, byMs: number): Bracket => ({
  earliestMs: earliestMs + byMs,
  latestMs: latestMs + byMs,
});
