import { HOUR_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import { codeAndState, redirectTo, withCodeAndState } from "../answer.ts";
import { drawnBy, remembered } from "../changes.ts";
import { randomFrom, type RandomSource } from "../random.ts";
import { change, everyNth, given, keeping, onlyIf, type Replacement, rows, together } from "../registry.ts";

/** Puts the code and the state in the query of a redirect, to an address modified by `changed`. */
const redirecting = (changed: (address: URL) => void): Replacement => ({
  renderAuthorized: (fields, redirectUri) => {
    const url = new URL(withCodeAndState(redirectUri, fields));
    changed(url);
    return redirectTo(url.href);
  },
});

/** Redirects to an address whose text is changed. */
const redirectingTo = (changed: (redirectUri: string) => string): Replacement => ({
  renderAuthorized: (fields, redirectUri) => redirectTo(withCodeAndState(changed(redirectUri), fields)),
});

const timestamping = (timestamp: (nowMs: number) => unknown): Replacement => ({
  timestamp: ({ nowMs }) => timestamp(nowMs),
});

/** Defects in answers, codes and timestamps of section 4.1. */
export const authorizeDefects = rows({
  "authorize.answers-with-code": {
    "authorize-always-fails: Every authorize request is answered with status 500.": {
      findClientToAuthorize: () => {
        throw new Error("no such table: clients");
      },
    },
    "redirect-uri-to-the-end-of-the-query: Everything after redirectUri= counts as the redirectUri.": change(
      "acceptsState",
      (accepts, _state, _query, { from }) => accepts && !/[?&]redirectUri=.*&state=/.test(from.url ?? ""),
    ),
    "authorize-empty-code-at-times: Every seventh authorize answer has an empty code.": everyNth(
      7,
      change("authorizeFields", (fields) => ({ ...fields, code: "" })),
    ),
    "authorize-code-of-digits-as-number: The code is a JSON number instead of a string.": (sound) => ({
      mintCode: (_client, _state, { random }) => String(1 + random.uint32() * 2 ** 20),
      authorizeFields: (record, timestamp, context) => ({
        ...sound.authorizeFields(record, timestamp, context),
        code: Number(record.code),
      }),
      findCode: (presented, context) => sound.findCode(String(presented), context),
    }),
    "authorize-code-works-a-second-later: A code can be exchanged only from one second after its issue.": (
      sound,
    ) => ({
      keepCode: (record, context) => {
        context.clock.schedule(context.nowMs + SECOND_MS, () => sound.keepCode(record, context));
      },
    }),
    "authorize-code-never-kept: Codes are issued but never stored.": { keepCode: () => undefined },
    "authorize-redirects-elsewhere: The redirect goes to another host.": redirecting((url) => {
      url.hostname = "elsewhere.example";
    }),
  },
  "authorize.answers-with-code authorize.echoes-state": {
    "authorize-redirect-without-state: The redirect carries the code but not the state.": {
      renderAuthorized: (fields, redirectUri) => {
        const url = new URL(redirectUri);
        url.searchParams.set("code", String(fields["code"]));
        return redirectTo(url.href);
      },
    },
  },
  "authorize.answers-with-code authorize.timestamp": {
    "authorize-without-timestamp: The authorize answer has no timestamp.": {
      authorizeFields: ({ state, code }) => ({ state, code }),
    },
  },
  "authorize.code-is-fresh": {
    "authorize-same-code-within-a-second: Two codes of a client within one second are identical.": {
      mintCode: (client, _state, { nowMs }) =>
        randomFrom(Math.floor(nowMs / SECOND_MS) + client.id.charCodeAt(0)).token(24),
    },
    "authorize-same-code-for-same-state: The same state gets the same code again.": (
      sound,
      codes = new Map<string, string>(),
    ) => ({
      mintCode: (client, state, context) =>
        remembered(codes, `${client.id} ${state}`, () => sound.mintCode(client, state, context)),
    }),
    "authorize-codes-from-small-range: Codes are six digits, with only a thousand different values.": {
      mintCode: (_client, _state, { random }) => String(100_000 + (random.uint32() % 1_000)),
    },
    "authorize-same-code-for-concurrent-requests: Requests within the same few milliseconds share one code.":
      (sound, last = { code: "", atMs: -Infinity }) => ({
        mintCode: (client, state, context) => {
          const atMs = context.clock.realMs();
          if (atMs - last.atMs > 3) last = { code: sound.mintCode(client, state, context), atMs };
          return last.code;
        },
      }),
    "authorize-same-codes-for-every-client: Each client's codes come from a generator with the same seed.": (
      _sound,
      sources = new Map<string, RandomSource>(),
    ) => ({
      mintCode: ({ id }) => remembered(sources, id, () => randomFrom(7)).token(24),
    }),
    "codes-drawn-every-20-ms: Two authorizations within 20 milliseconds get the same code.": {
      mintCode: (_client, _state, service) => drawnBy(service).token(24),
    },
    "authorize-codes-repeat-after-sixty: Codes are numbered, and start over after sixty.": (
      _sound,
      issued = 0,
    ) => ({ mintCode: () => `code${(issued += 1) % 60}` }),
  },
  "authorize.timestamp": {
    "timestamp-stands-still: Every timestamp is that of the first answer.": keeping((first?: number) =>
      timestamping((nowMs) => (first ??= nowMs)),
    ),
    "timestamp-runs-at-half-speed: The timestamp advances half a second per second.": keeping(
      (first?: number) => timestamping((nowMs) => (first ??= nowMs) + Math.floor((nowMs - first) / 2)),
    ),
    "timestamp-jumps-back: Every second answer comes from a machine whose clock is 90 seconds behind.":
      keeping((answers = 0) => timestamping((nowMs) => nowMs - ((answers += 1) % 2) * 90 * SECOND_MS)),
    "timestamp-in-32-bits: The timestamp counts milliseconds in 32 bits, so it starts over every 50 days.":
      timestamping((nowMs) => nowMs % 2 ** 32),
    "timestamp-is-constant: The timestamp is a constant.": timestamping(() => 1_700_000_000),
    "timestamp-in-minutes: The timestamp counts minutes.": timestamping((nowMs) => nowMs / MINUTE_MS),
    "timestamp-of-the-minute: The timestamp is rounded down to the minute.": timestamping(
      (nowMs) => nowMs - (nowMs % MINUTE_MS),
    ),
    "timestamp-within-the-hour: The timestamp counts from the last full hour.": timestamping(
      (nowMs) => nowMs % HOUR_MS,
    ),
    "authorize-timestamp-in-another-zone: The timestamp of authorize is an hour ahead.": given(
      "authorizeFields",
      (record, timestamp, context) => [record, Number(timestamp) + HOUR_MS, context],
    ),
  },
  "authorize.timestamp authorize.answers-with-code exchange.token-set refresh.token-set": {
    "timestamp-as-text: Timestamps are strings.": timestamping(String),
  },
  "authorize.redirect-uri-encoded": {
    "redirect-uri-with-query-refused: A redirectUri with a query is refused.": onlyIf(
      "acceptsRedirectUri",
      (redirectUri) => redirectUri?.includes("?") !== true,
    ),
    "redirect-uri-beyond-ascii-refused: A redirectUri whose decoded form has non-ASCII characters is refused.":
      onlyIf("acceptsRedirectUri", (redirectUri) => /^[ -~]*$/.test(redirectUri ?? "")),
    "redirect-uri-cut-at-ampersand: The query is decoded before it is split, which truncates the redirectUri.":
      together(
        redirectingTo((redirectUri) => redirectUri.split("&")[0] ?? ""),
        given("acceptsRedirectUri", (redirectUri, ...more) => [redirectUri?.split("&")[0], ...more]),
      ),
    "redirect-uri-decoded-twice: The redirectUri is decoded twice.": redirectingTo((redirectUri) =>
      redirectUri.replaceAll(/%[0-7][0-9a-f]/gi, decodeURIComponent),
    ),
    "redirect-uri-cut-at-255: A redirectUri is cut to 255 characters.": redirectingTo((redirectUri) =>
      redirectUri.slice(0, 255),
    ),
    "redirect-keeps-last-of-repeated: Of a repeated parameter of the redirectUri, the redirect keeps the last.":
      redirecting((url) => {
        url.search = new URLSearchParams(Object.fromEntries(url.searchParams)).toString();
      }),
    "redirect-drops-query: The redirect replaces the query of the redirectUri.": {
      renderAuthorized: (fields, redirectUri) => {
        const url = new URL(redirectUri);
        url.search = codeAndState(fields);
        return redirectTo(url.href);
      },
    },
    "redirect-adds-second-question-mark: The redirect appends ?code= to a redirectUri with a query.": {
      renderAuthorized: (fields, redirectUri) =>
        redirectTo(`${new URL(redirectUri).href}?${codeAndState(fields)}`),
    },
    "redirect-uri-not-decoded: The redirectUri is compared without decoding.": {
      acceptsRedirectUri: (redirectUri, _client, query) => query.raw.includes(redirectUri ?? "-"),
    },
    "query-decoded-before-split: The query is decoded before it is split into parameters.": given(
      "readQuery",
      (raw, context) => [decodeURIComponent(raw), context],
    ),
    "redirect-loses-port: The redirect loses the port.": redirecting((url) => {
      url.port = "";
    }),
  },
});
