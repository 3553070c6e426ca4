import { jsonAnswer } from "../answer.ts";
import type { AuthorizeDecisions, CodeDecisions } from "../behaviour.ts";
import type { CodeRecord } from "../context.ts";

/** 192 bits, more than RFC 6749 section 10.10 requires. */
const CODE_BYTES = 24;
const STATE = /^[a-zA-Z0-9]+$/;

/** Scheme, host, port and path of an address; undefined if it is invalid, or has a user or a fragment. */
export const placeOf = (address: string): string | undefined => {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username !== "" || url.password !== "" || address.includes("#")) return undefined;
  return `${url.protocol}//${url.host}${url.pathname}`;
};

export const soundAuthorize: AuthorizeDecisions = {
  findClientToAuthorize: (clientId, clients) => (clientId === undefined ? undefined : clients.get(clientId)),
  acceptsRedirectUri: (redirectUri, client) => {
    if (redirectUri === undefined) return false;
    if (redirectUri === client.redirectUri) return true;
    const place = placeOf(redirectUri);
    return place !== undefined && place === placeOf(client.redirectUri);
  },
  acceptsState: (state, _query, { limits }) =>
    state !== undefined && state.length <= limits.stateMaxBytes && STATE.test(state),
  mintCode: (_client, _state, { random }) => random.token(CODE_BYTES),
  keepCode: (record, { credentials }) => void credentials.codes.set(record.code, record),
  authorizeFields: ({ state, code }, timestamp) => ({ timestamp, state, code }),
  renderAuthorized: (fields) => jsonAnswer(200, fields),
};

export const soundCode: CodeDecisions = {
  findCode: (presented, { credentials }) =>
    typeof presented === "string" ? credentials.codes.get(presented) : undefined,
  codeBelongsTo: (record, client) => record.clientId === client.id,
  codeIsAlive: (record, { nowMs, limits }) => nowMs - record.issuedAtMs < limits.codeLifetimeMs,
  takeCode: (record, { nowMs }) => {
    if (record.usedAtMs !== undefined) return false;
    record.usedAtMs = nowMs;
    return true;
  },
  afterRefusedExchange: (record, kind) => {
    if (kind === "code-used") revokeGrantOf(record);
  },
  afterExchange: () => undefined,
};

/** A code presented twice may have been stolen, so its tokens are revoked (RFC 6749 section 4.1.2). */
const revokeGrantOf = (record: CodeRecord | undefined): void => {
  if (record?.grant !== undefined) record.grant.revoked = true;
};
