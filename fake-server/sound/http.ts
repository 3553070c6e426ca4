import { jsonAnswer, type Refusal, type RefusalKind, withHeaders } from "../answer.ts";
import type { HttpDecisions } from "../behaviour.ts";
import { parseBody } from "../body.ts";
import { parseQuery } from "../query.ts";

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

export const refusalStatus = (refusal: Refusal): number => REFUSALS[refusal.kind][0];
export const refusalMessage = (refusal: Refusal): string => REFUSALS[refusal.kind][1];

/** The documented parameters: a repeated one has no single value to act on. */
const DOCUMENTED = new Set(["clientId", "state", "redirectUri", "id", "limit", "page", "accountId"]);

export const soundHttp: HttpDecisions = {
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
