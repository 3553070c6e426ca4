import type { TokenDecisions } from "../behaviour.ts";

/** 256 bits, more than RFC 6749 section 10.10 requires. */
const TOKEN_BYTES = 32;
export const ACCESS_TOKEN_HEADER = "x-service-access-token";
const MS_PER_SECOND = 1_000;

export const soundTokens: TokenDecisions = {
  authenticateClient: (clientId, clientSecret, clients) => {
    const client = typeof clientId === "string" ? clients.get(clientId) : undefined;
    return client?.secret === clientSecret ? client : undefined;
  },
  findClientToRefresh: (clientId, clients) =>
    typeof clientId === "string" ? clients.get(clientId) : undefined,
  mintAccessToken: (_client, _lifetimeMs, { random }) => random.token(TOKEN_BYTES),
  mintRefreshToken: (_client, { random }) => random.token(TOKEN_BYTES),
  accessTokenLifetimeMs: (_client, { limits }) => limits.accessTokenLifetimeMs,
  expiresIn: (lifetimeMs) => lifetimeMs / MS_PER_SECOND,
  exchangeFields: (tokens, timestamp, expiresIn) => ({
    accessToken: tokens.latestAccess.token,
    refreshToken: tokens.token,
    expiresIn,
    timestamp,
  }),
  refreshFields: (tokens, timestamp, expiresIn) => ({
    accessToken: tokens.latestAccess.token,
    expiresIn,
    timestamp,
  }),
  keepAccessToken: (record, { credentials }) => void credentials.accessTokens.set(record.token, record),
  keepRefreshToken: (record, { credentials }) => void credentials.refreshTokens.set(record.token, record),
  findRefreshToken: (presented, { credentials }) =>
    typeof presented === "string" ? credentials.refreshTokens.get(presented) : undefined,
  refreshTokenBelongsTo: (record, client) => record.clientId === client.id,
  refreshTokenIsAlive: (record, { nowMs, limits }) =>
    !record.revoked && !record.grant.revoked && nowMs - record.issuedAtMs < limits.refreshTokenLifetimeMs,
  takeRefreshToken: () => true,
  afterRefusedRefresh: () => undefined,
  afterRefresh: () => undefined,
  readAccessToken: ({ from }) => {
    const value = from.headers[ACCESS_TOKEN_HEADER];
    return typeof value === "string" && value !== "" ? value : undefined;
  },
  findAccessToken: (presented, { credentials }) => credentials.accessTokens.get(presented),
  accessTokenIsAlive: (record, { nowMs }) =>
    !record.revoked && !record.grant.revoked && nowMs - record.issuedAtMs < record.lifetimeMs,
};
