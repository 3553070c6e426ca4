import type { Endpoint } from "../conformance/contract/forms.ts";
import type { IncomingMessage } from "node:http";
import type { ServiceClock } from "./clock.ts";
import type { FakeClient } from "./clients.ts";
import type { NotificationStore, Notification } from "./notifications.ts";
import type { RandomSource } from "./random.ts";
import { documentLimits, type Limits } from "../conformance/contract/limits.ts";

/** The document's numbers (section 8) and those it leaves to the service. */
export interface ServiceLimits extends Limits {
  /** Lifetime of an access token; reported to the client as expiresIn. */
  readonly accessTokenLifetimeMs: number;
  /** The maximum page size served. */
  readonly maximumLimit: number;
  /** How long the sender of pushes waits for a complete answer. */
  readonly senderTimeoutMs: number;
  /** The maximum request body read. */
  readonly bodyMaxBytes: number;
}

export const serviceLimits: ServiceLimits = {
  ...documentLimits,
  accessTokenLifetimeMs: 7_200_000,
  maximumLimit: 100,
  senderTimeoutMs: 10_000,
  bodyMaxBytes: 256 * 1024,
};

/** The result of one exchange: its tokens are valid together until the grant is revoked. */
export interface Grant {
  readonly clientId: string;
  revoked: boolean;
}

/** An authorization code (sections 2.1 and 3.1). */
export interface CodeRecord {
  readonly code: string;
  readonly clientId: string;
  readonly state: string;
  issuedAtMs: number;
  /** Set by the exchange that used the code. */
  usedAtMs: number | undefined;
  /** The grant from exchanging this code. */
  grant: Grant | undefined;
}

/** A refresh token (sections 2.2 and 3.2). */
export interface RefreshRecord {
  readonly token: string;
  readonly clientId: string;
  readonly grant: Grant;
  issuedAtMs: number;
  revoked: boolean;
  /** The access token issued last for this refresh token. */
  latestAccess: AccessRecord;
}

/** An access token (sections 2.2 and 5). */
export interface AccessRecord {
  readonly token: string;
  readonly clientId: string;
  readonly grant: Grant;
  readonly lifetimeMs: number;
  readonly refreshed: boolean;
  issuedAtMs: number;
  revoked: boolean;
}

/** Every issued credential, keyed by its text; maps keep the order of issue. */
export interface Credentials {
  readonly codes: Map<string, CodeRecord>;
  readonly refreshTokens: Map<string, RefreshRecord>;
  readonly accessTokens: Map<string, AccessRecord>;
}

export const emptyCredentials = (): Credentials => ({
  codes: new Map(),
  refreshTokens: new Map(),
  accessTokens: new Map(),
});

/**
 * Drops the oldest records while they are obsolete, so that hours of load do not fill the memory. Stops at the first
 * that is not: records are in order of issue, so the cost per issue is constant.
 */
export const purge = <R>(records: Map<string, R>, outlived: (record: R) => boolean): void => {
  for (const [key, record] of records) {
    if (!outlived(record)) return;
    records.delete(key);
  }
};

/** The operations of section 4 that a client calls. */
export type Operation = Endpoint;

/** The parts of the service apart from its decisions. */
export interface Service {
  readonly clients: ReadonlyMap<string, FakeClient>;
  readonly limits: ServiceLimits;
  readonly clock: ServiceClock;
  readonly random: RandomSource;
  readonly credentials: Credentials;
  readonly notifications: NotificationStore;
}

/** Everything a decision may use besides its subject: the service, the time, and the current request. */
export interface Context extends Service {
  /** The requested operation; `elsewhere` if path and method are not documented. */
  readonly operation: Operation | "elsewhere";
  /** The service's time when the request arrived. */
  readonly nowMs: number;
  /** The request as parsed by Node: target, headers, connection. */
  readonly from: IncomingMessage;
}

/** What the service has done since its start or last reset. */
export interface Counters {
  readonly requests: Record<Operation, number>;
  /** Answers by HTTP status. */
  readonly answers: Record<number, number>;
  events: number;
  clockMoves: number;
  readonly pushes: Record<"sent" | "acknowledged" | "failed", number>;
}

export const zeroCounters = (): Counters => ({
  requests: { authorize: 0, exchange: 0, refresh: 0, list: 0 },
  answers: {},
  events: 0,
  clockMoves: 0,
  pushes: { sent: 0, acknowledged: 0, failed: 0 },
});

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
