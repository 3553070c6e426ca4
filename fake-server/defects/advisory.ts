import { type Fields, jsonAnswer, redirectTo, withCodeAndState, withHeaders } from "../answer.ts";
import type { FakeClient } from "../clients.ts";
import { change, given, keeping, type Replacement, rows } from "../registry.ts";

/** An address without a scheme stays without one; browsers complete it. */
const addressWithCode = (address: string, fields: Fields): string =>
  address.startsWith("//")
    ? withCodeAndState(`https:${address}`, fields).slice("https:".length)
    : withCodeAndState(address, fields);

/** Redirects to the addresses that are accepted. */
const redirectingIf = (accepts: (redirectUri: string, client: FakeClient) => boolean): Replacement => ({
  acceptsRedirectUri: (redirectUri = "", client) =>
    URL.canParse(redirectUri, "https://service.example") && accepts(redirectUri, client),
  renderAuthorized: (fields, redirectUri) => redirectTo(addressWithCode(redirectUri, fields)),
});

const refusing = (message: string): Replacement => ({ renderRefusal: () => jsonAnswer(400, { message }) });

/** Services that keep the document but violate advice in the standards: a warning, not a failure. */
export const advisoryDefects = rows({
  "authorize.unregistered-redirect": {
    "advice-redirects-anywhere: The code is sent to any redirectUri that a request names, also to one without a scheme.":
      redirectingIf((redirectUri) => /^[a-z]+:|^\/\//i.test(redirectUri)),
    "advice-redirects-to-prefix: A redirectUri that starts with the registered one is accepted.":
      redirectingIf((redirectUri, client) => redirectUri.startsWith(client.redirectUri.split("?")[0] ?? "")),
  },
  "authorize.code-entropy": {
    "advice-codes-short: Codes have ten digits.": {
      mintCode: (_client, _state, { random }) => String(random.uint32()).padStart(10, "0"),
    },
    "advice-codes-counted: Codes are a number that increases by one, after a common prefix.": (
      _sound,
      issued = 0,
    ) => ({ mintCode: () => `code-${String((issued += 1)).padStart(40, "0")}` }),
    "advice-codes-behind-a-prefix: Codes are random, after a prefix that all of them share.": {
      mintCode: (_client, _state, { random }) => `7f3a91c2e5${random.token(32)}`,
    },
  },
  "code.bound-to-client": {
    "advice-code-of-other-client-accepted: A client can exchange another client's code.": {
      codeBelongsTo: () => true,
    },
  },
  "code.reuse-revokes-tokens": {
    "advice-reuse-without-consequence: Presenting a used code again leaves its tokens valid.": {
      afterRefusedExchange: () => undefined,
    },
    "advice-reuse-leaves-refresh-token: Presenting a used code again leaves its refreshToken valid.": (
      sound,
    ) => ({
      refreshTokenIsAlive: (record, { nowMs, limits }) =>
        nowMs - record.issuedAtMs < limits.refreshTokenLifetimeMs,
      accessTokenIsAlive: (record, context) => record.refreshed || sound.accessTokenIsAlive(record, context),
    }),
  },
  "exchange.no-store": {
    "advice-answers-may-be-stored: Answers with tokens do not forbid caching.": {
      finish: (answer) => {
        const { "cache-control": _, ...headers } = answer.headers;
        return { ...answer, headers };
      },
    },
    "advice-answers-private: Answers with tokens forbid caching only by shared caches.": {
      finish: (answer) => withHeaders(answer, { "cache-control": "private" }),
    },
  },
  "exchange.token-entropy": {
    "advice-tokens-counted: Access tokens are a number that increases by one.": (
      _sound,
      issued = 1_000_000,
    ) => ({ mintAccessToken: () => `token-${(issued += 1)}` }),
    "advice-refresh-token-from-access-token: The refreshToken is derived from the accessToken.": change(
      "exchangeFields",
      (fields) => ({ ...fields, refreshToken: `r-${String(fields["accessToken"])}` }),
    ),
  },
  "refresh.bound-to-client": {
    "advice-refresh-token-of-other-client-accepted: A client can use another client's refreshToken.": {
      refreshTokenBelongsTo: () => true,
    },
  },
  "service.survives-bad-input": {
    "advice-bad-input-fails-service: Unreadable input is answered with 500.": change(
      "renderRefusal",
      (answer, refusal) => (refusal.kind.endsWith("-malformed") ? { ...answer, status: 500 } : answer),
    ),
    "advice-bad-input-drops-connection: Unreadable input makes the service drop the connection.": change(
      "renderRefusal",
      (answer, refusal, context) => {
        if (refusal.kind.endsWith("-malformed")) context.from.socket.destroy();
        return answer;
      },
    ),
    "advice-odd-types-fail-service: A code that is not a string is answered with 500.": given(
      "findCode",
      (presented, context) => {
        if (typeof presented !== "string") throw new Error("not a string");
        return [presented, context];
      },
    ),
    "advice-bad-query-drops-connection: An unreadable query makes the service drop the connection.": change(
      "readQuery",
      (query, _raw, { from }) => {
        if (query === undefined) from.socket.destroy();
        return query;
      },
    ),
    "advice-page-beyond-64-bits-fails-service: A page whose first item has no number in 64 bits is answered with 500.":
      given("pageFor", (asked = "0", context) => {
        if (/^\d+$/.test(asked) && BigInt(asked) * BigInt(context.limits.defaultLimit) >= 2n ** 63n)
          throw new RangeError("an offset beyond 64 bits");
        return [asked, context];
      }),
    "advice-second-request-hangs: A query with a raw quote or angle bracket gets no answer unless it comes first on its connection.":
      keeping((used = new WeakSet<object>()) => ({
        finish: (answer, { from }) => {
          const { socket, url = "" } = from;
          if (used.has(socket) && /["<>]/.test(url)) return new Promise<never>(() => {});
          used.add(socket);
          return answer;
        },
      })),
    "advice-bad-body-ends-service: After an unreadable body, every other body is refused.": keeping(
      (isBroken = false) =>
        change("readBody", (body) => {
          isBroken ||= body === undefined;
          return isBroken ? undefined : body;
        }),
    ),
  },
  "service.leaks-nothing": {
    "advice-pages-show-internals: Unknown paths are answered with a stack trace showing local paths.": change(
      "renderRefusal",
      (answer, refusal) => {
        if (refusal.kind !== "not-found" && refusal.kind !== "query-malformed") return answer;
        const { stack } = new Error(refusal.kind);
        return { status: 400, headers: { "content-type": "text/plain" }, body: stack ?? "" };
      },
    ),
    "advice-refusals-show-stack: Refusals show a stack trace.": refusing(
      "Error: no\n    at exchange (/app/routes/exchange.ts:12:7)",
    ),
    "advice-refusals-show-path: Refusals show a local path.": refusing(
      "cannot open /var/lib/service/codes.sqlite",
    ),
    "advice-refused-paging-shows-database: A limit or page that is refused shows a database error.": change(
      "renderRefusal",
      (answer, { kind }) =>
        kind === "paging-refused"
          ? jsonAnswer(400, { message: "SQLSTATE[42000]: Syntax error or access violation: 1064" })
          : answer,
    ),
    "advice-refusals-show-database: Refusals show a database error.": refusing(
      "SQLITE_CONSTRAINT: codes.code",
    ),
    "advice-answers-show-client: Answers show the first client, including its secret.": given(
      "renderSuccess",
      (fields, context) => [{ ...fields, client: [...context.clients.values()][0] }, context],
    ),
  },
});
