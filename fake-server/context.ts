import type { Endpoint } from "../conformance/contract/forms.ts";
import type { IncomingMessage } from "node:http";
import type { ServiceClock } from "./clock.ts";
import type { FakeClient } from "./clients.ts";
import type { ServiceLimits } from "./limits.ts";
import type { NotificationStore } from "./notifications.ts";
import type { RandomSource } from "./random.ts";

/** What one exchange gave: its tokens live and die together when the grant is revoked. */
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
  /** What the exchange of this code gave. */
  grant: Grant | undefined;
}

/** A refresh token (sections 2.2 and 3.2). */
export interface RefreshRecord {
  readonly token: string;
  readonly clientId: string;
  readonly grant: Grant;
  issuedAtMs: number;
  revoked: boolean;
  /** The access token that was issued last under this refresh token. */
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

/** Every credential that was issued, by its own text; maps keep the order of issue. */
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
 * Drops the oldest records as long as they have outlived their use, so that a load
 * of hours does not fill the memory. It stops at the first that has not: records
 * stand in the order of issue, so the cost is a constant one per issue.
 */
export const purge = <R>(records: Map<string, R>, outlived: (record: R) => boolean): void => {
  for (const [key, record] of records) {
    if (!outlived(record)) return;
    records.delete(key);
  }
};

/** The operations of section 4 that a client calls. */
export type Operation = Endpoint;

/** What the service is made of, apart from how it decides. */
export interface Service {
  readonly clients: ReadonlyMap<string, FakeClient>;
  readonly limits: ServiceLimits;
  readonly clock: ServiceClock;
  readonly random: RandomSource;
  readonly credentials: Credentials;
  readonly notifications: NotificationStore;
}

/** All that a decision may draw on besides its subject: the service, the moment, and the request at hand. */
export interface Context extends Service {
  /** What the request is for; `elsewhere` when its path and method are none of the documented ones. */
  readonly operation: Operation | "elsewhere";
  /** The service's time when the request arrived. */
  readonly nowMs: number;
  /** The request as Node read it: target, headers, connection. */
  readonly from: IncomingMessage;
}
