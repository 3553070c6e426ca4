import { HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Fields } from "../answer.ts";
import { counted, drawnBy, remembered } from "../changes.ts";
import type { FakeClient } from "../clients.ts";
import type { AccessRecord } from "../context.ts";
import { randomFrom, type RandomSource } from "../random.ts";
import {
  afterwards,
  change,
  everyNth,
  given,
  keeping,
  onlyIf,
  type Replacement,
  rows,
  together,
} from "../registry.ts";

/** Token sets with other fields; one that is undefined is missing. */
const answering = (changed: (fields: Fields) => Fields): Replacement =>
  change("exchangeFields", (fields) => ({ ...fields, ...changed(fields) }));

const without = (name: string): Replacement => answering(() => ({ [name]: undefined }));

/** Defects in the token set (sections 2.2 and 4.2). */
export const exchangeDefects = rows({
  "exchange.token-set": {
    "exchange-always-fails: Every exchange is answered with status 500.": {
      authenticateClient: () => {
        throw new Error("no such table: clients");
      },
    },
    "exchange-without-refresh-token: The token set has no refreshToken.": without("refreshToken"),
    "exchange-with-empty-refresh-token: The refreshToken is an empty string.": answering(() => ({
      refreshToken: "",
    })),
    "exchange-with-null-access-token: The accessToken is null.": answering(() => ({ accessToken: null })),
    "exchange-access-token-with-line-end: The accessToken ends with a line break, so it cannot be sent in a header.":
      answering(({ accessToken }) => ({ accessToken: `${String(accessToken)}\n` })),
    "exchange-without-timestamp: The token set has no timestamp.": without("timestamp"),
    "exchange-without-expires-in: The token set has no expiresIn.": without("expiresIn"),
    "exchange-expires-in-as-text: expiresIn is a string of digits.": answering(({ expiresIn }) => ({
      expiresIn: String(expiresIn),
    })),
    "exchange-expires-in-as-text-now-and-then: Every fiftieth expiresIn is a string of digits.": everyNth(
      50,
      answering(({ expiresIn }) => ({ expiresIn: String(expiresIn) })),
    ),
    "exchange-expires-in-zero: expiresIn is 0 although the token is valid.": answering(() => ({
      expiresIn: 0,
    })),
    "exchange-with-names-of-the-rfc: The fields are access_token, refresh_token and expires_in.": change(
      "exchangeFields",
      ({ accessToken, refreshToken, expiresIn, timestamp }) => ({
        access_token: accessToken,
        refresh_token: refreshToken,
        expires_in: expiresIn,
        timestamp,
      }),
    ),
    "exchange-wrapped: The token set lies inside a field called data.": change("exchangeFields", (data) => ({
      success: true,
      data,
    })),
    "exchange-timestamp-of-its-start: The timestamp of every exchange is an hour before the first exchange.":
      (_sound, startedMs?: number) => ({
        timestamp: ({ nowMs, operation }) =>
          operation === "exchange" ? (startedMs ??= nowMs - HOUR_MS) : nowMs,
      }),
    "exchange-timestamp-of-its-code: The timestamp of an exchange is the time at which its code was issued.":
      given("exchangeFields", (tokens, timestamp, expiresIn, context) => {
        const codes = [...context.credentials.codes.values()];
        const code = codes.findLast(({ grant }) => grant === tokens.grant);
        return [tokens, code?.issuedAtMs ?? timestamp, expiresIn, context];
      }),
  },
  "exchange.token-set refresh.token-set": {
    "expires-in-as-moment: expiresIn is the moment at which the accessToken expires, in seconds since 1970.":
      { expiresIn: (lifetimeMs, { nowMs }) => Math.floor((nowMs + lifetimeMs) / SECOND_MS) },
  },
  "exchange.tokens-are-fresh": {
    "tokens-cached-per-client: A client gets the same accessToken again while it is valid.": (
      sound,
      cached = new Map<string, AccessRecord>(),
    ) => ({
      mintAccessToken: (client, lifetimeMs, context) => {
        const known = cached.get(client.id);
        const alive = known !== undefined && sound.accessTokenIsAlive(known, context);
        return alive ? known.token : sound.mintAccessToken(client, lifetimeMs, context);
      },
      keepAccessToken: (record, context) => {
        cached.set(record.clientId, record);
        sound.keepAccessToken(record, context);
      },
    }),
    "refresh-token-one-per-client: Every exchange of a client yields the same refreshToken.": (
      sound,
      tokens = new Map<string, string>(),
    ) => ({
      mintRefreshToken: (client, context) =>
        remembered(tokens, client.id, () => sound.mintRefreshToken(client, context)),
    }),
    "tokens-derived-from-time: Tokens are derived from the millisecond of their issue.": {
      mintAccessToken: (client, _lifetimeMs, { nowMs }) =>
        randomFrom(nowMs * 2 + client.id.charCodeAt(0)).token(32),
    },
    "tokens-shared-by-concurrent-exchanges: Exchanges within a few milliseconds get the same accessToken.": (
      sound,
      last = { token: "", atMs: -Infinity },
    ) => ({
      mintAccessToken: (client, lifetimeMs, context) => {
        const atMs = context.clock.realMs();
        if (atMs - last.atMs > 3) last = { token: sound.mintAccessToken(client, lifetimeMs, context), atMs };
        return last.token;
      },
    }),
    "tokens-drawn-every-20-ms: Two exchanges within 20 milliseconds get the same tokens.": {
      mintAccessToken: (_client, _lifetimeMs, service) => drawnBy(service).token(32),
      mintRefreshToken: (_client, service) => drawnBy(service).token(33),
    },
    "tokens-same-for-every-client: Each client's tokens come from a generator with the same seed.": (
      _sound,
      sources = new Map<string, RandomSource>(),
    ) => {
      const next = ({ id }: FakeClient): string => remembered(sources, id, () => randomFrom(11)).token(32);
      return { mintAccessToken: next, mintRefreshToken: next };
    },
    "exchange-one-token-for-both-purposes: The refreshToken is the accessToken.": answering(
      ({ accessToken }) => ({ refreshToken: accessToken }),
    ),
  },
  "exchange.access-token-works": {
    "access-token-bound-to-connection: An accessToken works only on the connection on which it was issued.":
      keeping((connections = new WeakMap<AccessRecord, object>()) =>
        together(
          afterwards("keepAccessToken", (record, { from }) => {
            if (!record.refreshed) connections.set(record, from.socket);
          }),
          onlyIf(
            "accessTokenIsAlive",
            (record, { from }) => (connections.get(record) ?? from.socket) === from.socket,
          ),
        ),
      ),
    "access-token-refused-at-first-use: The first use of an exchanged accessToken is refused.": keeping(
      (uses = counted()) => onlyIf("accessTokenIsAlive", (record) => uses(record) > 1 || record.refreshed),
    ),
    "access-token-works-after-first-refresh: Only accessTokens from a refresh give access to the list.":
      onlyIf("accessTokenIsAlive", (record) => record.refreshed),
    "access-token-of-first-client-only: Only accessTokens of the first client are accepted.": change(
      "findAccessToken",
      (usual, _presented, { clients }) => (usual?.clientId === [...clients.keys()][0] ? usual : undefined),
    ),
  },
  "exchange.access-token-works refresh.access-token-works": {
    "access-token-works-a-second-later: The list accepts an accessToken only from one second after its issue.":
      onlyIf("accessTokenIsAlive", (record, context) => context.nowMs - record.issuedAtMs >= SECOND_MS),
    "access-token-replicated-late: The list accepts an accessToken only from 40 ms after its issue.": keeping(
      (keptAtMs = new WeakMap<AccessRecord, number>()) =>
        together(
          afterwards("keepAccessToken", (record, { clock }) => void keptAtMs.set(record, clock.realMs())),
          onlyIf(
            "accessTokenIsAlive",
            (record, { clock }) => clock.realMs() - (keptAtMs.get(record) ?? 0) > 40,
          ),
        ),
    ),
  },
});
