import { MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { isObject, parseJson } from "../../conformance/contract/json.ts";
import { type Answer, jsonAnswer, type Refusal, withHeaders } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import { showing } from "../changes.ts";
import { parseQuery } from "../requests.ts";
import { afterwards, change, given, keeping, type Replacement, together, variantRows } from "../registry.ts";

const PARAMETERS = new Set(["clientId", "state", "redirectUri", "id", "limit", "page", "accountId"]);
const BODY_FIELDS = new Set(["clientId", "clientSecret", "code", "refreshToken"]);

/** Successful answers except redirects, transformed by `changed`. */
const succeeding = (changed: (answer: Answer) => Answer): Replacement =>
  together(change("renderSuccess", changed), change("renderAuthorized", changed));

const everyHeader = (headers: Readonly<Record<string, string>>): Replacement => ({
  finish: (answer) => withHeaders(answer, headers),
});

/** A token bucket of `burst` requests, refilled by `perSecond`; undefined admits a request. */
const bucket = (burst: number, perSecond: number): ((nowMs: number) => Refusal | undefined) => {
  let level = burst;
  let atMs: number | undefined;
  return (nowMs) => {
    level = Math.min(burst, level + ((nowMs - (atMs ?? nowMs)) / 1_000) * perSecond);
    atMs = nowMs;
    if (level < 1) {
      return { kind: "rate-limited", retryAfterSeconds: Math.max(1, Math.ceil((1 - level) / perSecond)) };
    }
    level -= 1;
    return undefined;
  };
};

/** Refused exchanges within a minute that lock their client out, and for how long. */
const LOCKED_AFTER = 10;
const LOCKED_MS = 10 * SECOND_MS;

const lockout = (): Replacement => {
  const clients = new Map<unknown, { refusedMs: readonly number[]; untilMs: number }>();
  const clientIds = new WeakMap<object, unknown>();
  const locked = new WeakSet<object>();
  const stateOf = (from: object) => clients.get(clientIds.get(from)) ?? { refusedMs: [], untilMs: 0 };
  return together(
    change("readBody", (body, _raw, { from, operation, nowMs }) => {
      if (operation !== "exchange") return body;
      clientIds.set(from, body?.["clientId"]);
      if (stateOf(from).untilMs <= nowMs) return body;
      locked.add(from);
      return undefined;
    }),
    afterwards("afterRefusedExchange", (_record, _kind, { from, nowMs }) => {
      const refusedMs = [...stateOf(from).refusedMs.filter((atMs) => atMs > nowMs - MINUTE_MS), nowMs];
      const isLocked = refusedMs.length >= LOCKED_AFTER;
      const state = isLocked ? { refusedMs: [], untilMs: nowMs + LOCKED_MS } : { refusedMs, untilMs: 0 };
      clients.set(clientIds.get(from), state);
    }),
    change("renderRefusal", (answer, _refusal, { from }) =>
      locked.has(from) ? jsonAnswer(403, { error: "client-locked" }) : answer,
    ),
  );
};

const shifted = (byMs: number): Replacement =>
  together(
    { timestamp: ({ nowMs }) => nowMs + byMs },
    given("createTime", (nowMs, service) => [nowMs + byMs, service]),
  );

/** JSON objects as many parsers read them: the last value of a repeated key counts, and some read more than JSON. */
const lenientBody: Behaviour["readBody"] = (raw) => {
  const text = raw
    .toString("utf8")
    .replaceAll(/\/\*.*?\*\//gs, "")
    .replaceAll(/(?<=:)NaN\b/g, "null");
  for (const { index } of text.matchAll(/\}/g)) {
    const value = parseJson(text.slice(0, index + 1));
    if (isObject(value)) return value;
  }
  return undefined;
};

/** Variants of time, framing and headers. */
export const httpVariants = {
  ...variantRows(
    {
      "clock-flowing: The service's clock moves with real time as well as when it is advanced.": {},
      "expires-in-cut-to-whole-seconds: The clock also moves with real time, and expiresIn is what is left when the answer is written, cut to whole seconds.":
        { expiresIn: (lifetimeMs) => Math.ceil(lifetimeMs / SECOND_MS) - 1 },
    },
    { clockMode: "flowing" },
  ),
  ...variantRows(
    {
      "clock-starts-in-autumn: The service's clock starts in October, so that a year ends within a gate.": {},
    },
    { startTimeMs: Date.UTC(2027, 9, 31, 23, 59, 59, 999) },
  ),
  ...variantRows(
    {
      "clock-jumping: An advance moves the clock at once, so pushes due in between leave late and later ones count from there; first pushes leave after two seconds, and timeouts use real time.":
        (sound) => ({
          pushDelayMs: (attempt, delivery, service) =>
            attempt === 1 ? 2 * SECOND_MS : sound.pushDelayMs(attempt, delivery, service),
          senderTimeoutMs: () => 3 * SECOND_MS,
          timesOutInRealTime: () => true,
        }),
    },
    { clockMode: "jumping" },
  ),
  // Codes that end together need more refused exchanges within a moment than it allows.
  ...variantRows(
    {
      "clients-locked-out: Ten refused exchanges of a client within a minute lock it out for ten seconds, with status 403.":
        keeping(lockout),
    },
    { leavesOpen: ["code.lifetime", "code.lifetime-is-not-extended", "refresh.lifetime-is-from-issue"] },
  ),
  ...variantRows({
    "json-read-leniently: The last value of a repeated key counts, comments and NaN are read, and what follows the object is not, as by many JSON parsers.":
      { readBody: lenientBody },
    "timestamps-in-seconds: Timestamps count whole seconds.": {
      timestamp: ({ nowMs }) => Math.floor(nowMs / 1_000),
    },
    "timestamps-in-seconds-with-fraction: Timestamps count seconds, with a fraction.": {
      timestamp: ({ nowMs }) => nowMs / 1_000,
    },
    "timestamps-in-microseconds: Timestamps count microseconds.": { timestamp: ({ nowMs }) => nowMs * 1_000 },
    "timestamps-in-nanoseconds: Timestamps count nanoseconds.": {
      timestamp: ({ nowMs }) => nowMs * 1_000_000,
    },
    "clock-five-minutes-ahead: All times are five minutes ahead.": shifted(5 * MINUTE_MS),
    "clock-five-minutes-behind: All times are five minutes behind.": shifted(-5 * MINUTE_MS),
    "further-fields: Every answer and every item has additional fields.": together(
      change("authorizeFields", (fields) => ({ ...fields, expiresIn: 600, success: true })),
      change("exchangeFields", (fields) => ({ ...fields, tokenType: "Bearer", refreshExpiresIn: 2_592_000 })),
      change("refreshFields", (fields) => ({ ...fields, tokenType: "Bearer", scope: null })),
      showing(() => ({ template: "GlobalAccount", version: 1, tags: [] })),
      change("listFields", (fields, { length: size }) => ({ ...fields, pages: { size }, code: 0 })),
    ),
    "json-written-otherwise: JSON is indented, and non-ASCII letters are escaped.": succeeding((answer) => ({
      ...answer,
      body: JSON.stringify(JSON.parse(answer.body), null, 2).replaceAll(
        /[^\0-~]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    })),
    "json-as-plain-text: JSON answers declare text/plain.": succeeding((answer) =>
      withHeaders(answer, { "content-type": "text/plain" }),
    ),
    "tokens-created: Tokens are answered with status 201.": change(
      "renderSuccess",
      (answer, fields, context) => (context.operation === "list" ? answer : jsonAnswer(201, fields)),
    ),
    "unknown-parameters-refused: Undocumented query parameters and body fields are refused.": together(
      change("parametersRefusal", (refusal, { values }) =>
        [...values.keys()].every((name) => PARAMETERS.has(name)) ? refusal : "parameter-unknown",
      ),
      change("readBody", (body) =>
        Object.keys(body ?? {}).every((name) => BODY_FIELDS.has(name)) ? body : undefined,
      ),
    ),
    "bodies-of-512-bytes: Bodies of more than 512 bytes are refused.": change("readBody", (body, raw) =>
      raw.length > 512 ? undefined : body,
    ),
    "repeated-parameters-last-wins: Of a repeated parameter the last value counts.": {
      parametersRefusal: () => undefined,
      readQuery: (raw) => {
        const query = parseQuery(raw.split("&").toReversed().join("&"));
        return query === undefined ? undefined : { ...query, raw };
      },
    },
    "content-type-required: Every request must declare application/json.": {
      contentTypeRefusal: (contentType) =>
        /^application\/json *(?:;|$)/i.test(contentType ?? "") ? undefined : "content-type-unsupported",
    },
    "latency-of-some-milliseconds: Every answer takes one to eight milliseconds.": {
      latencyMs: ({ random }) => 1 + (random.uint32() % 8),
    },
    "connections-closed: Every answer closes its connection.": everyHeader({ connection: "close" }),
    "bodies-in-chunks: Bodies are sent in small chunks without their length.": {
      finish: (answer) => ({
        ...answer,
        chunked: true,
      }),
    },
    "bodies-compressed: Bodies are compressed with gzip although the request did not ask for it.": {
      finish: (answer) => ({ ...answer, compressed: true }),
    },
    "interim-answers: Every answer is preceded by 100 Continue and 103 Early Hints.": {
      finish: (answer) => ({ ...answer, interim: true }),
    },
    "further-headers: Answers carry cookies, tracing and cache headers.": everyHeader({
      "set-cookie": "session=4f1c; Path=/; HttpOnly",
      "x-request-id": "00-4bf92f3577b34da6-00",
      etag: '"0"',
      vary: "Origin",
      "strict-transport-security": "max-age=63072000",
    }),
    "refusals-counted: Refusals have headers with the total of nothing, and with a count of requests.":
      keeping((requests = 0) => ({
        finish: (answer) => {
          requests += 1;
          return answer.status < 400
            ? answer
            : withHeaders(answer, {
                "x-total-count": "0",
                "content-range": "notifications */0",
                "x-request-count": String(requests),
              });
        },
      })),
    "rate-limited-by-service-clock: At most a hundred requests at once, then twenty per second of service time.":
      keeping((take = bucket(100, 20)) => ({ admission: ({ nowMs }) => take(nowMs) })),
    "rate-limited-until-a-date: Retry-After is a date by the service's clock, while Date is the machine's.":
      together(
        keeping((take = bucket(100, 20)) => ({ admission: ({ nowMs }) => take(nowMs) })),
        change("renderRefusal", (answer, { retryAfterSeconds }, { nowMs }) =>
          retryAfterSeconds === undefined
            ? answer
            : withHeaders(answer, {
                "retry-after": new Date(nowMs + (retryAfterSeconds + 1) * SECOND_MS).toUTCString(),
              }),
        ),
      ),
    "rate-limited-by-real-time: At most five hundred requests at once, then six hundred per second.": keeping(
      (take = bucket(500, 600)) => ({ admission: ({ clock }) => take(clock.realMs()) }),
    ),
    "rate-limited-without-retry-after: At most twenty requests at once, then three hundred per second of real time; others get 503 without Retry-After, as from a gateway.":
      together(
        keeping((take = bucket(20, 300)) => ({ admission: ({ clock }) => take(clock.realMs()) })),
        change("renderRefusal", (answer, { kind }) =>
          kind === "rate-limited"
            ? { status: 503, headers: { "content-type": "text/html" }, body: "<h1>Service Unavailable</h1>" }
            : answer,
        ),
      ),
    "rate-limited-by-a-page: At most fifty requests at once, then six hundred per second of real time; others get a page with 403, as from a firewall.":
      together(
        keeping((take = bucket(50, 600)) => ({ admission: ({ clock }) => take(clock.realMs()) })),
        change("renderRefusal", (answer, { kind }) =>
          kind === "rate-limited"
            ? { status: 403, headers: { "content-type": "text/html" }, body: "<h1>Forbidden</h1>" }
            : answer,
        ),
      ),
    "timestamps-since-2000: Timestamps count milliseconds since the year 2000.": {
      timestamp: ({ nowMs }) => nowMs - 946_684_800_000,
    },
    "timestamps-of-two-clocks: Exchanges are answered by a machine a minute behind the others.": {
      timestamp: ({ nowMs, operation }) => (operation === "exchange" ? nowMs - 60_000 : nowMs),
    },
    "timestamps-of-two-nodes: Every other request is answered by a machine 300 ms behind.": keeping(
      (answers = 0) => ({ timestamp: ({ nowMs }) => nowMs - ((answers += 1) % 2) * 300 }),
    ),
    "header-names-as-cgi-has-them: Dashes and underscores in header names are equivalent, as in CGI.": change(
      "readAccessToken",
      (usual, context) => usual ?? context.from.headers["x_service_access_token"]?.toString(),
    ),
    "timestamps-in-seconds-of-exchange: Exchanges give the timestamp in seconds, others in milliseconds.": {
      timestamp: ({ nowMs, operation }) => (operation === "exchange" ? Math.floor(nowMs / 1_000) : nowMs),
    },
  }),
};
