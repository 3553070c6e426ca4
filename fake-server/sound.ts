import type {
  Behaviour,
  HttpDecisions,
  AuthorizeDecisions,
  CodeDecisions,
  TokenDecisions,
  EventDecisions,
  ListDecisions,
  PushDecisions,
} from "./behaviour.ts";
import { endpoints } from "../conformance/contract/forms.ts";
import { jsonAnswer, type Refusal, type RefusalKind, withHeaders } from "./answer.ts";
import { parseBody, parseQuery } from "./requests.ts";
import type { CodeRecord, PushOutcome } from "./context.ts";
import { EVERYTHING } from "./notifications.ts";
import { anchors, readings } from "./delivery/schedule.ts";

/** Enough that a few hanging receivers do not block the rest, and few enough to spare receiver and sender. */
const PUSHES_IN_FLIGHT = 64;
const EXPECTED_STATUS = 200;

export const statusOf = (outcome: PushOutcome): number | undefined =>
  outcome.kind === "answered" ? outcome.status : undefined;

/**
 * The first push is sent with the event; each later one counts its delay from the failure of the previous one, and the
 * first push is one of the five (section 6, reading R1). The expected return code is not shown: 200, and the code alone
 * decides, because only its absence makes a push unsuccessful according to the document.
 */
const soundDelivery: PushDecisions = {
  ...readings.r1(anchors.endOfLatest),
  pushesEvent: () => true,
  pushJitterMs: () => 0,
  pushNoticedMs: (dueMs) => dueMs,
  onNewDelivery: () => undefined,
  pushCopies: () => 1,
  pushBody: ({ notification }) => JSON.stringify(notification),
  pushHeaders: () => ({ "content-type": "application/json", accept: "application/json" }),
  pushRequest: (request) => request,
  requestAfter: () => undefined,
  acknowledges: (outcome) => statusOf(outcome) === EXPECTED_STATUS,
  pushesAgain: (_outcome, { acknowledged }) => !acknowledged,
  afterPush: () => undefined,
  senderTimeoutMs: (_delivery, { limits }) => limits.senderTimeoutMs,
  timesOutInRealTime: () => false,
  checksCertificate: () => true,
  keepsConnections: () => true,
  pushesInFlight: () => PUSHES_IN_FLIGHT,
  nextInLine: () => 0,
};

const WHOLE_NUMBER = /^\d+$/;

/** The whole number that a parameter stands for, or undefined if it is not one; huge values become the maximum. */
export const wholeNumber = (text: string): number | undefined =>
  WHOLE_NUMBER.test(text) ? Math.min(Number(text), Number.MAX_SAFE_INTEGER) : undefined;

const soundList: ListDecisions = {
  readFilters: ({ values }) => ({ id: values.get("id"), accountId: values.get("accountId") }),
  limitFor: (asked, { limits }) => {
    if (asked === undefined) return limits.defaultLimit;
    const limit = wholeNumber(asked);
    return limit !== undefined && limit >= 1 && limit <= limits.maximumLimit ? limit : undefined;
  },
  pageFor: (asked, { limits }) => (asked === undefined ? limits.defaultPage : wholeNumber(asked)),
  matching: ({ id, accountId }) => {
    if (id !== undefined && accountId !== undefined) {
      return { where: "id = ? AND accountId = ?", parameters: [id, accountId] };
    }
    if (id !== undefined) return { where: "id = ?", parameters: [id] };
    if (accountId !== undefined) return { where: "accountId = ?", parameters: [accountId] };
    return { where: EVERYTHING, parameters: [] };
  },
  order: () => "sequence",
  offsetOf: ({ limit, page }) => Math.min(limit * page, Number.MAX_SAFE_INTEGER),
  countMatches: (selection, { notifications }) => notifications.count(selection),
  readItems: (selection, offset, { limit }, { notifications }) =>
    notifications.read(selection, offset, limit),
  servesPage: () => true,
  total: (matched) => matched,
  item: (notification) => notification,
  listFields: (data, total) => ({ data, total }),
};

const soundEvents: EventDecisions = {
  mintNotificationId: (random) => random.uuid(),
  createTime: (nowMs) => new Date(nowMs).toISOString(),
  ownerOf: (clientId) => clientId ?? "",
  visibilityDelayMs: () => 0,
  keepNotification: (notification, owner, { notifications }) => notifications.add({ ...notification, owner }),
};

/** 256 bits, more than RFC 6749 section 10.10 requires. */
const TOKEN_BYTES = 32;
export const ACCESS_TOKEN_HEADER = "x-service-access-token";
const MS_PER_SECOND = 1_000;

const soundTokens: TokenDecisions = {
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

/** 192 bits, more than RFC 6749 section 10.10 requires. */
const CODE_BYTES = 24;
const STATE = /^[a-zA-Z0-9]+$/;

/** Scheme, host, port and path of an address; undefined if it is invalid, or has a user or a fragment. */
const placeOf = (address: string): string | undefined => {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.username !== "" || url.password !== "" || address.includes("#")) return undefined;
  return `${url.protocol}//${url.host}${url.pathname}`;
};

const soundAuthorize: AuthorizeDecisions = {
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

const soundCode: CodeDecisions = {
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

/** Refusals of the sound service by kind; the document shows neither statuses nor bodies (section 7). */
const REFUSALS: Readonly<Record<RefusalKind, readonly [status: number, message: string]>> = {
  "not-found": [404, "There is nothing at this path for this method."],
  "rate-limited": [429, "Too many requests."],
  overloaded: [503, "More requests are under way than can be served."],
  "query-malformed": [400, "The query is not well-formed percent-encoded UTF-8."],
  "parameter-repeated": [400, "A parameter occurs more than once."],
  "parameter-unknown": [400, "A parameter is not known."],
  "content-type-unsupported": [415, "The body has to be application/json."],
  "body-malformed": [400, "The body is not one JSON object with unique keys."],
  "body-too-large": [413, "The body is too large."],
  "client-unknown": [401, "The client is not known."],
  "client-unauthenticated": [401, "The client is not known, or its secret is wrong."],
  "redirect-uri-refused": [400, "The redirectUri is not the registered one."],
  "state-refused": [400, "The state has to be 1 to 128 characters of a-z, A-Z, 0-9."],
  "code-unknown": [400, "The code is not valid."],
  "code-of-another-client": [400, "The code is not valid."],
  "code-expired": [400, "The code is not valid."],
  "code-used": [400, "The code is not valid."],
  "refresh-token-unknown": [400, "The refreshToken is not valid."],
  "refresh-token-of-another-client": [400, "The refreshToken is not valid."],
  "refresh-token-expired": [400, "The refreshToken is not valid."],
  "access-token-missing": [401, "x-service-access-token is missing."],
  "access-token-unknown": [401, "The access token is not valid."],
  "access-token-expired": [401, "The access token is not valid."],
  "paging-refused": [400, "limit has to be 1 to 100 and page a whole number from 0."],
  failure: [500, "The service failed."],
};

const refusalStatus = (refusal: Refusal): number => REFUSALS[refusal.kind][0];
export const refusalMessage = (refusal: Refusal): string => REFUSALS[refusal.kind][1];

/** The documented parameters: a repeated one has no single value to act on. */
const DOCUMENTED = new Set(["clientId", "state", "redirectUri", "id", "limit", "page", "accountId"]);

const soundHttp: HttpDecisions = {
  admission: () => undefined,
  latencyMs: () => 0,
  readQuery: parseQuery,
  parametersRefusal: (query) =>
    query.repeated.some((name) => DOCUMENTED.has(name)) ? "parameter-repeated" : undefined,
  contentTypeRefusal: () => undefined,
  readBody: parseBody,
  timestamp: (context) => context.nowMs,
  renderSuccess: (fields) => jsonAnswer(200, fields),
  renderRefusal: (refusal) => {
    const body = { error: refusal.kind, message: refusalMessage(refusal) };
    const answer = jsonAnswer(refusalStatus(refusal), body);
    return refusal.retryAfterSeconds === undefined
      ? answer
      : withHeaders(answer, { "retry-after": String(refusal.retryAfterSeconds) });
  },
  finish: (answer) => answer,
};

/** The service that keeps every promise of the document, and follows the standards where the document is silent. */
export const sound: Behaviour = {
  ...soundHttp,
  ...soundAuthorize,
  ...soundCode,
  ...soundTokens,
  ...soundList,
  ...soundEvents,
  ...soundDelivery,
  pathsOf: (operation) => [endpoints[operation].path],
};
