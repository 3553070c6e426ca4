import { type Answer, jsonAnswer, type Refusal, withHeaders } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { JsonObject } from "../body.ts";
import { parseQuery } from "../query.ts";
import { type Variant, variant } from "../registry.ts";

const PARAMETERS = new Set(["clientId", "state", "redirectUri", "id", "limit", "page", "accountId"]);
const BODY_FIELDS = new Set(["clientId", "clientSecret", "code", "refreshToken"]);

/** Successful answers, all but redirects, as `changed` leaves them. */
const succeeding =
  (changed: (answer: Answer) => Answer) =>
  (sound: Behaviour): Pick<Behaviour, "renderSuccess" | "renderAuthorized"> => ({
    renderSuccess: (fields, context) => changed(sound.renderSuccess(fields, context)),
    renderAuthorized: (fields, redirectUri, context) =>
      changed(sound.renderAuthorized(fields, redirectUri, context)),
  });

const everyHeader = (headers: Readonly<Record<string, string>>) => (): Pick<Behaviour, "finish"> => ({
  finish: (answer) => withHeaders(answer, headers),
});

/** A bucket that holds `burst` requests and is refilled by `perSecond`; undefined lets a request in. */
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

const shifted =
  (byMs: number) =>
  (sound: Behaviour): Pick<Behaviour, "timestamp" | "createTime"> => ({
    timestamp: ({ nowMs }) => nowMs + byMs,
    createTime: (nowMs, service) => sound.createTime(nowMs + byMs, service),
  });

const FIVE_MINUTES_MS = 300_000;

/** Time, framing and manners where the document leaves room. */
export const httpVariants = {
  "last-of-repeated-keys-counts": variant(
    "Of a key that a body names twice the last value counts, as most JSON parsers have it.",
    () => ({
      readBody: (raw) => {
        try {
          const value: unknown = JSON.parse(raw.toString("utf8"));
          return typeof value === "object" && value !== null && !Array.isArray(value)
            ? (value as JsonObject)
            : undefined;
        } catch {
          return undefined;
        }
      },
    }),
  ),
  "timestamps-in-seconds": variant("Timestamps count whole seconds.", () => ({
    timestamp: ({ nowMs }) => Math.floor(nowMs / 1_000),
  })),
  "timestamps-in-seconds-with-fraction": variant("Timestamps count seconds, with a fraction.", () => ({
    timestamp: ({ nowMs }) => nowMs / 1_000,
  })),
  "clock-five-minutes-ahead": variant(
    "Timestamps and createTime are five minutes ahead.",
    shifted(FIVE_MINUTES_MS),
  ),
  "clock-five-minutes-behind": variant(
    "Timestamps and createTime are five minutes behind.",
    shifted(-FIVE_MINUTES_MS),
  ),
  "clock-flowing": {
    summary: "The service's clock moves with real time as well as when it is advanced.",
    clockMode: "flowing",
    replaces: () => ({}),
  },

  "further-fields": variant("Every answer and every item has further fields.", (sound) => ({
    authorizeFields: (record, timestamp, context) => ({
      ...sound.authorizeFields(record, timestamp, context),
      expiresIn: 600,
      success: true,
    }),
    exchangeFields: (tokens, timestamp, expiresIn, context) => ({
      ...sound.exchangeFields(tokens, timestamp, expiresIn, context),
      tokenType: "Bearer",
      refreshExpiresIn: 2_592_000,
    }),
    refreshFields: (tokens, timestamp, expiresIn, context) => ({
      ...sound.refreshFields(tokens, timestamp, expiresIn, context),
      tokenType: "Bearer",
      scope: null,
    }),
    item: (notification) => ({ ...notification, template: "GlobalAccount", version: 1, tags: [] }),
    listFields: (items, total, context) => ({
      ...sound.listFields(items, total, context),
      pages: { size: items.length },
      code: 0,
    }),
  })),
  "json-written-otherwise": variant(
    "JSON is indented, and letters beyond ASCII are escaped.",
    succeeding((answer) => ({
      ...answer,
      body: JSON.stringify(JSON.parse(answer.body), null, 2).replaceAll(
        /[^\0-~]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    })),
  ),
  "json-as-plain-text": variant(
    "JSON answers say that they are text/plain.",
    succeeding((answer) => withHeaders(answer, { "content-type": "text/plain" })),
  ),
  "tokens-created": variant("Tokens are answered with status 201.", (sound) => ({
    renderSuccess: (fields, context) =>
      context.operation === "list" ? sound.renderSuccess(fields, context) : jsonAnswer(201, fields),
  })),

  "unknown-parameters-refused": variant(
    "Query parameters and body fields that are not documented are refused.",
    (sound) => ({
      parametersRefusal: (query, context) =>
        [...query.values.keys()].every((name) => PARAMETERS.has(name))
          ? sound.parametersRefusal(query, context)
          : "parameter-unknown",
      readBody: (raw, context) => {
        const body = sound.readBody(raw, context);
        return body !== undefined && Object.keys(body).every((name) => BODY_FIELDS.has(name))
          ? body
          : undefined;
      },
    }),
  ),
  "repeated-parameters-last-wins": variant("Of a repeated parameter the last value counts.", () => ({
    parametersRefusal: () => undefined,
    readQuery: (raw) => {
      const query = parseQuery(raw.split("&").toReversed().join("&"));
      return query === undefined ? undefined : { ...query, raw };
    },
  })),
  "content-type-required": variant("Every request has to say that it is application/json.", () => ({
    contentTypeRefusal: (contentType) =>
      /^application\/json *(?:;|$)/i.test(contentType ?? "") ? undefined : "content-type-unsupported",
  })),

  "latency-of-some-milliseconds": variant("Every answer takes one to eight milliseconds.", () => ({
    latencyMs: ({ random }) => 1 + (random.uint32() % 8),
  })),
  "connections-closed": variant(
    "The connection is closed after every answer.",
    everyHeader({ connection: "close" }),
  ),
  "bodies-in-chunks": variant("Bodies are sent in small chunks without their length.", () => ({
    finish: (answer) => ({ ...answer, chunked: true }),
  })),
  "further-headers": variant(
    "Answers carry cookies, tracing and cache headers.",
    everyHeader({
      "set-cookie": "session=4f1c; Path=/; HttpOnly",
      "x-request-id": "00-4bf92f3577b34da6-00",
      etag: '"0"',
      vary: "Origin",
      "strict-transport-security": "max-age=63072000",
    }),
  ),
  "rate-limited-by-service-clock": variant(
    "A hundred requests at once, then twenty in a second of the service's clock.",
    () => {
      const take = bucket(100, 20);
      return { admission: ({ nowMs }) => take(nowMs) };
    },
  ),
  "rate-limited-by-real-time": variant("Five hundred requests at once, then six hundred in a second.", () => {
    const take = bucket(500, 600);
    return { admission: ({ clock }) => take(clock.realMs()) };
  }),

  "timestamps-since-2000": variant("Timestamps count milliseconds since the year 2000.", () => ({
    timestamp: ({ nowMs }) => nowMs - 946_684_800_000,
  })),
  "timestamps-of-two-clocks": variant(
    "Exchanges are answered by a machine whose clock is a minute behind the others.",
    () => ({ timestamp: ({ nowMs, operation }) => (operation === "exchange" ? nowMs - 60_000 : nowMs) }),
  ),
  "header-names-as-cgi-has-them": variant(
    "Dashes and underscores in names of headers are one, as in what CGI hands on.",
    (sound) => ({
      readAccessToken: (context) =>
        sound.readAccessToken(context) ?? context.from.headers["x_service_access_token"]?.toString(),
    }),
  ),
} satisfies Record<string, Variant>;
