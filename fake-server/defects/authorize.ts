import { type Defect, defect } from "../registry.ts";
import { codeAndState, redirectTo, withCodeAndState } from "../redirect.ts";
import { SECOND_MS } from "./tools.ts";
import { randomFrom, type RandomSource } from "../random.ts";

/** Answers, codes and timestamps of section 4.1 gone wrong. */
export const authorizeDefects = {
  "authorize-empty-code-at-times": defect(
    "Every seventh authorize answer carries an empty code.",
    ["authorize.answers-with-code"],
    (sound) => {
      let answers = 0;
      return {
        authorizeFields: (record, timestamp, context) => {
          answers += 1;
          const fields = sound.authorizeFields(record, timestamp, context);
          return answers % 7 === 0 ? { ...fields, code: "" } : fields;
        },
      };
    },
  ),
  "authorize-code-of-digits-as-number": defect(
    "The code is a JSON number instead of a string.",
    ["authorize.answers-with-code"],
    (sound) => ({
      mintCode: (_client, _state, { random }) => String(1 + random.uint32() * 2 ** 20),
      authorizeFields: (record, timestamp, context) => ({
        ...sound.authorizeFields(record, timestamp, context),
        code: Number(record.code),
      }),
      findCode: (presented, context) => sound.findCode(String(presented), context),
    }),
  ),
  "authorize-code-works-a-second-later": defect(
    "A code can be exchanged only a second after it was given out.",
    ["authorize.answers-with-code"],
    (sound) => ({
      keepCode: (record, context) => {
        context.clock.schedule(context.nowMs + SECOND_MS, () => sound.keepCode(record, context));
      },
    }),
  ),
  "authorize-redirect-without-state": defect(
    "The redirect carries the code and leaves the state out.",
    ["authorize.answers-with-code", "authorize.echoes-state"],
    () => ({
      renderAuthorized: (fields, redirectUri) => {
        const url = new URL(redirectUri);
        url.searchParams.set("code", String(fields["code"]));
        return redirectTo(url.href);
      },
    }),
  ),
  "authorize-without-timestamp": defect(
    "The authorize answer has no timestamp.",
    ["authorize.answers-with-code", "authorize.timestamp"],
    () => ({ authorizeFields: ({ state, code }) => ({ state, code }) }),
  ),

  "authorize-same-code-within-a-second": defect(
    "The code is derived from client and second, so that two of one second are the same.",
    ["authorize.code-is-fresh"],
    () => ({
      mintCode: (client, _state, { nowMs }) =>
        randomFrom(Math.floor(nowMs / SECOND_MS) + client.id.charCodeAt(0)).token(24),
    }),
  ),
  "authorize-same-code-for-same-state": defect(
    "A state that was seen before gets the code that it got then.",
    ["authorize.code-is-fresh"],
    (sound) => {
      const codes = new Map<string, string>();
      return {
        mintCode: (client, state, context) => {
          const key = `${client.id} ${state}`;
          const code = codes.get(key) ?? sound.mintCode(client, state, context);
          codes.set(key, code);
          return code;
        },
      };
    },
  ),
  "authorize-codes-from-small-range": defect(
    "Codes are six digits out of a thousand values.",
    ["authorize.code-is-fresh"],
    () => ({
      mintCode: (_client, _state, { random }) => String(100_000 + (random.uint32() % 1_000)),
    }),
  ),
  "authorize-same-code-for-concurrent-requests": defect(
    "Requests that arrive within the same few milliseconds share one code.",
    ["authorize.code-is-fresh"],
    (sound) => {
      let last = { code: "", atMs: -Infinity };
      return {
        mintCode: (client, state, context) => {
          const atMs = context.clock.realMs();
          if (atMs - last.atMs > 3) last = { code: sound.mintCode(client, state, context), atMs };
          return last.code;
        },
      };
    },
  ),
  "authorize-same-codes-for-every-client": defect(
    "Each client's codes come from a generator that starts with the same seed.",
    ["authorize.code-is-fresh"],
    () => {
      const sources = new Map<string, RandomSource>();
      return {
        mintCode: (client) => {
          const source = sources.get(client.id) ?? randomFrom(7);
          sources.set(client.id, source);
          return source.token(24);
        },
      };
    },
  ),

  "timestamp-stands-still": defect(
    "The timestamp is that of the first answer, for ever.",
    ["authorize.timestamp"],
    () => {
      let first: number | undefined;
      return { timestamp: ({ nowMs }) => (first ??= nowMs) };
    },
  ),
  "timestamp-runs-at-half-speed": defect(
    "The timestamp gains half a second for each second.",
    ["authorize.timestamp"],
    () => {
      let first: number | undefined;
      return { timestamp: ({ nowMs }) => (first ??= nowMs) + Math.floor((nowMs - first) / 2) };
    },
  ),
  "timestamp-in-microseconds": defect("The timestamp counts microseconds.", ["authorize.timestamp"], () => ({
    timestamp: ({ nowMs }) => nowMs * 1_000,
  })),
  "timestamp-jumps-back": defect(
    "Every second answer comes from a machine whose clock is 90 seconds behind.",
    ["authorize.timestamp"],
    () => {
      let answers = 0;
      return { timestamp: ({ nowMs }) => nowMs - ((answers += 1) % 2) * 90 * SECOND_MS };
    },
  ),
  "timestamp-as-text": defect(
    "Timestamps are strings.",
    ["authorize.timestamp", "authorize.answers-with-code", "exchange.token-set", "refresh.token-set"],
    () => ({ timestamp: ({ nowMs }) => String(nowMs) }),
  ),

  "redirect-uri-with-query-refused": defect(
    "A redirectUri that has a query of its own is refused.",
    ["authorize.redirect-uri-encoded"],
    (sound) => ({
      acceptsRedirectUri: (redirectUri, client, query) =>
        sound.acceptsRedirectUri(redirectUri, client, query) && redirectUri?.includes("?") !== true,
    }),
  ),
  "redirect-uri-beyond-ascii-refused": defect(
    "A redirectUri that holds a character outside ASCII once decoded is refused.",
    ["authorize.redirect-uri-encoded"],
    (sound) => ({
      acceptsRedirectUri: (redirectUri, client, query) =>
        sound.acceptsRedirectUri(redirectUri, client, query) && /^[ -~]*$/.test(redirectUri ?? ""),
    }),
  ),
  "redirect-uri-cut-at-ampersand": defect(
    "The query is decoded before it is split, so the redirectUri ends at its first ampersand.",
    ["authorize.redirect-uri-encoded"],
    (sound) => ({
      renderAuthorized: (fields, redirectUri) =>
        redirectTo(withCodeAndState(redirectUri.split("&")[0] ?? "", fields)),
      acceptsRedirectUri: (redirectUri, client, query) =>
        sound.acceptsRedirectUri(redirectUri?.split("&")[0], client, query),
    }),
  ),
  "redirect-uri-decoded-twice": defect(
    "The redirectUri is decoded once more than it was encoded.",
    ["authorize.redirect-uri-encoded"],
    () => ({
      renderAuthorized: (fields, redirectUri) =>
        redirectTo(withCodeAndState(redirectUri.replaceAll(/%[0-7][0-9a-f]/gi, decodeURIComponent), fields)),
    }),
  ),
  "redirect-drops-query": defect(
    "The redirect replaces the query of the redirectUri.",
    ["authorize.redirect-uri-encoded"],
    () => ({
      renderAuthorized: (fields, redirectUri) => {
        const url = new URL(redirectUri);
        url.search = codeAndState(fields);
        return redirectTo(url.href);
      },
    }),
  ),
  "redirect-adds-second-question-mark": defect(
    "The redirect appends ?code= to a redirectUri that has a query already.",
    ["authorize.redirect-uri-encoded"],
    () => ({
      renderAuthorized: (fields, redirectUri) =>
        redirectTo(`${new URL(redirectUri).href}?${codeAndState(fields)}`),
    }),
  ),
} satisfies Record<string, Defect>;
