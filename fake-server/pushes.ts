import type { Notification } from "./notifications.ts";

/** The single address the client gave for pushes (section 4.5). */
export interface Callback {
  readonly url: string;
  /** PEM of the authority for the receiver's certificate; the system's authorities if absent. */
  readonly ca?: string;
}

/** The outcome of one request of the sender. */
export type PushOutcome =
  | {
      readonly kind: "answered";
      readonly status: number;
      /** The text behind the status in the first line. */
      readonly reason: string;
      /** Names in lower case. */
      readonly headers: Readonly<Record<string, string>>;
      /** As text, truncated beyond any possible length of an acknowledgement. */
      readonly body: string;
      /** In how many pieces the body came. */
      readonly pieces: number;
    }
  /** The kind of failure: `closed` before an answer began, `cut` within one, `malformed` if it was not HTTP. */
  | {
      readonly kind: PushFailure;
      readonly message: string;
      /** For an answer `cut` after its head. */
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
  /** The service itself stopped during the push. */
  | "interrupted";

/** A push that was begun, in the service's time. */
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
  /** When the next push is due; undefined while one is in flight. */
  dueMs?: number;
  acknowledged: boolean;
}

export interface PushRequest {
  readonly url: string;
  readonly method: string;
  /** As written on the wire; Host, Connection and the body's length are added. */
  readonly headers: Readonly<Record<string, string>>;
  /** undefined sends none. */
  readonly body: string | undefined;
}
