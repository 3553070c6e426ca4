import { HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Fields } from "../answer.ts";
import type { AccessRecord } from "../context.ts";
import { randomFrom, type RandomSource } from "../random.ts";
import { change, decide, decisions, onlyIf, type Replacement, rows } from "../registry.ts";
import { remembered } from "./tools.ts";

const answering = (changed: (fields: Fields) => Fields): Replacement => change("exchangeFields", changed);

const without = (name: string): Replacement =>
  answering((fields) => Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name)));

/** Defects in the token set (sections 2.2 and 4.2). */
export const exchangeDefects = rows({
  "exchange.token-set": {
    "exchange-always-fails: Every exchange is answered with status 500.": decide("authenticateClient", () => {
      throw new Error("no such table: clients");
    }),
    "exchange-without-refresh-token: The token set has no refreshToken.": without("refreshToken"),
    "exchange-with-empty-refresh-token: The refreshToken is an empty string.": answering((fields) => ({
      ...fields,
      refreshToken: "",
    })),
    "exchange-with-null-access-token: The accessToken is null.": answering((fields) => ({
      ...fields,
      accessToken: null,
    })),
    "exchange-access-token-with-line-end: The accessToken ends with a line break, so it cannot be sent in a header.":
      answering((fields) => ({ ...fields, accessToken: `${String(fields["accessToken"])}\n` })),
    "exchange-without-timestamp: The token set has no timestamp.": without("timestamp"),
    "exchange-without-expires-in: The token set has no expiresIn.": without("expiresIn"),
    "exchange-expires-in-as-text: expiresIn is a string of digits.": answering((fields) => ({
      ...fields,
      expiresIn: String(fields["expiresIn"]),
    })),
    "exchange-expires-in-zero: expiresIn is 0 although the token is valid.": answering((fields) => ({
      ...fields,
      expiresIn: 0,
    })),
    "exchange-with-names-of-the-rfc: The fields are access_token, refresh_token and expires_in.": answering(
      ({ accessToken, refreshToken, expiresIn, timestamp }) => ({
        access_token: accessToken,
        refresh_token: refreshToken,
        expires_in: expiresIn,
        timestamp,
      }),
    ),
    "exchange-wrapped: The token set lies inside a field called data.": answering((fields) => ({
      success: true,
      data: fields,
    })),
    "exchange-timestamp-of-its-start: The timestamp of every exchange is an hour before the first exchange.":
      decisions(() => {
        let startedMs: number | undefined;
        return {
          timestamp: ({ nowMs, operation }) =>
            operation === "exchange" ? (startedMs ??= nowMs - HOUR_MS) : nowMs,
        };
      }),
  },
  "exchange.tokens-are-fresh": {
    "tokens-cached-per-client: A client gets the same accessToken again while it is valid.": decisions(
      (sound, cached = new Map<string, AccessRecord>()) => ({
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
    ),
    "refresh-token-one-per-client: Every exchange of a client yields the same refreshToken.": decisions(
      (sound, tokens = new Map<string, string>()) => ({
        mintRefreshToken: (client, context) => {
          return remembered(tokens, client.id, () => sound.mintRefreshToken(client, context));
        },
      }),
    ),
    "tokens-derived-from-time: Tokens are derived from the millisecond of their issue.": decide(
      "mintAccessToken",
      (client, _lifetimeMs, { nowMs }) => randomFrom(nowMs * 2 + client.id.charCodeAt(0)).token(32),
    ),
    "tokens-shared-by-concurrent-exchanges: Exchanges within a few milliseconds get the same accessToken.":
      decisions((sound, last = { token: "", atMs: -Infinity }) => ({
        mintAccessToken: (client, lifetimeMs, context) => {
          const atMs = context.clock.realMs();
          if (atMs - last.atMs > 3) {
            last = { token: sound.mintAccessToken(client, lifetimeMs, context), atMs };
          }
          return last.token;
        },
      })),
    "tokens-same-for-every-client: Each client's tokens come from a generator with the same seed.": decisions(
      () => {
        const sources = new Map<string, RandomSource>();
        const next = (id: string): string => remembered(sources, id, () => randomFrom(11)).token(32);
        return { mintAccessToken: ({ id }) => next(id), mintRefreshToken: ({ id }) => next(id) };
      },
    ),
    "exchange-one-token-for-both-purposes: The refreshToken is the accessToken.": answering((fields) => ({
      ...fields,
      refreshToken: fields["accessToken"],
    })),
  },
  "exchange.access-token-works": {
    "access-token-works-a-second-later: The list accepts an accessToken only from one second after its issue.":
      [
        onlyIf("accessTokenIsAlive", (record, context) => context.nowMs - record.issuedAtMs >= SECOND_MS),
        "refresh.access-token-works",
      ],
    "access-token-replicated-late: The list accepts an accessToken only from 40 ms after its issue.": [
      decisions((sound, keptAtMs = new WeakMap<AccessRecord, number>()) => ({
        keepAccessToken: (record, context) => {
          keptAtMs.set(record, context.clock.realMs());
          sound.keepAccessToken(record, context);
        },
        accessTokenIsAlive: (record, context) =>
          sound.accessTokenIsAlive(record, context) &&
          context.clock.realMs() - (keptAtMs.get(record) ?? 0) > 40,
      })),
      "refresh.access-token-works",
    ],
    "access-token-bound-to-connection: An accessToken works only on the connection on which it was issued.":
      decisions((sound, connections = new WeakMap<AccessRecord, object>()) => ({
        keepAccessToken: (record, context) => {
          if (!record.refreshed) connections.set(record, context.from.socket);
          sound.keepAccessToken(record, context);
        },
        accessTokenIsAlive: (record, context) =>
          sound.accessTokenIsAlive(record, context) &&
          (connections.get(record) ?? context.from.socket) === context.from.socket,
      })),
    "access-token-refused-at-first-use: The first use of an exchanged accessToken is refused.": decisions(
      (sound, used = new WeakSet<AccessRecord>()) => ({
        accessTokenIsAlive: (record, context) => {
          const warm = used.has(record) || record.refreshed;
          used.add(record);
          return warm && sound.accessTokenIsAlive(record, context);
        },
      }),
    ),
    "access-token-works-after-first-refresh: Only accessTokens from a refresh give access to the list.":
      onlyIf("accessTokenIsAlive", (record) => record.refreshed),
    "access-token-of-first-client-only: Only accessTokens of the first client are accepted.": change(
      "findAccessToken",
      (usual, _presented, { clients }) => (usual?.clientId === [...clients.keys()][0] ? usual : undefined),
    ),
  },
});
