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
