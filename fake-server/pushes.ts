import type { Notification } from "./notifications.ts";

/** The one address that the client gave for pushes (section 4.5). */
export interface Callback {
  readonly url: string;
  /** PEM of the authority that the receiver's certificate has to lead to; the usual ones where absent. */
  readonly ca?: string;
}

/** What became of one request of the sender. */
export type PushOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      /** As text, cut where it is longer than anything that an acknowledgement could be. */
      readonly body: string;
    }
  /** How it failed: `closed` before an answer began, `cut` within one, `malformed` when it was no HTTP. */
  | {
      readonly kind: PushFailure;
      readonly message: string;
      /** Of an answer that was `cut` once its head had come. */
      readonly status?: number;
    };

export type PushFailure =
  | "refused"
  | "reset"
  | "closed"
  | "cut"
  | "malformed"
  | "timed-out"
  | "untrusted"
  | "unreachable"
  /** The service itself went down while the push was under way. */
  | "interrupted";

/** A push that was begun. Times are the service's. */
interface PushAttempt {
  readonly startedAtMs: number;
  endedAtMs?: number;
  outcome?: PushOutcome;
}

/** One notification on its way to the callback. */
export interface Delivery {
  /** Order of the events, from 1. */
  readonly sequence: number;
  readonly notification: Notification;
  /** When the event was raised. */
  readonly createdAtMs: number;
  readonly attempts: PushAttempt[];
  /** When the next push is due; undefined while one is under way. */
  dueMs?: number;
  acknowledged: boolean;
}

export interface PushRequest {
  readonly url: string;
  readonly method: string;
  /** As they are written on the wire; Host, Connection and the body's length are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** undefined sends none. */
  readonly body: string | undefined;
}
