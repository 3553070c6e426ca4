import type { Fields } from "../answer.ts";
import type { Behaviour } from "../behaviour.ts";
import type { AccessRecord } from "../credentials.ts";
import { randomFrom, type RandomSource } from "../random.ts";
import { type Defect, defect } from "../registry.ts";
import { SECOND_MS } from "./tools.ts";

/** The token set as `changed` leaves it. */
const answering =
  (changed: (fields: Fields) => Fields) =>
  (sound: Behaviour): Pick<Behaviour, "exchangeFields"> => ({
    exchangeFields: (tokens, timestamp, expiresIn, context) =>
      changed(sound.exchangeFields(tokens, timestamp, expiresIn, context)),
  });

const without = (fields: Fields, name: string): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([field]) => field !== name));

/** Both tokens from one generator per key, each of which begins alike. */
const mintedPer = (
  key: (clientId: string) => string,
): Pick<Behaviour, "mintAccessToken" | "mintRefreshToken"> => {
  const sources = new Map<string, RandomSource>();
  const next = (clientId: string): string => {
    const source = sources.get(key(clientId)) ?? randomFrom(11);
    sources.set(key(clientId), source);
    return source.token(32);
  };
  return { mintAccessToken: ({ id }) => next(id), mintRefreshToken: ({ id }) => next(id) };
};

/** The token set of sections 2.2 and 4.2 gone wrong. */
export const exchangeDefects = {
  "exchange-without-refresh-token": defect(
    "The token set has no refreshToken.",
    ["exchange.token-set"],
    answering((fields) => without(fields, "refreshToken")),
  ),
  "exchange-with-empty-refresh-token": defect(
    "The refreshToken is an empty string.",
    ["exchange.token-set"],
    answering((fields) => ({ ...fields, refreshToken: "" })),
  ),
  "exchange-with-null-access-token": defect(
    "The accessToken is null.",
    ["exchange.token-set"],
    answering((fields) => ({ ...fields, accessToken: null })),
  ),
  "exchange-without-timestamp": defect(
    "The token set has no timestamp.",
    ["exchange.token-set"],
    answering((fields) => without(fields, "timestamp")),
  ),
  "exchange-without-expires-in": defect(
    "The token set does not say how long the accessToken lives.",
    ["exchange.token-set"],
    answering((fields) => without(fields, "expiresIn")),
  ),
  "exchange-expires-in-as-text": defect(
    "expiresIn is a string of digits.",
    ["exchange.token-set"],
    answering((fields) => ({ ...fields, expiresIn: String(fields["expiresIn"]) })),
  ),
  "exchange-expires-in-zero": defect(
    "expiresIn is 0, although the token lives.",
    ["exchange.token-set"],
    answering((fields) => ({ ...fields, expiresIn: 0 })),
  ),
  "exchange-with-names-of-the-rfc": defect(
    "The fields are called access_token, refresh_token and expires_in.",
    ["exchange.token-set"],
    answering(({ accessToken, refreshToken, expiresIn, timestamp }) => ({
      access_token: accessToken,
      refresh_token: refreshToken,
      expires_in: expiresIn,
      timestamp,
    })),
  ),
  "exchange-wrapped": defect(
    "The token set lies inside a field called data.",
    ["exchange.token-set"],
    answering((fields) => ({ success: true, data: fields })),
  ),

  "tokens-cached-per-client": defect(
    "A client gets the accessToken that it has as long as that one lives.",
    ["exchange.tokens-are-fresh"],
    (sound) => {
      const cached = new Map<string, AccessRecord>();
      return {
        mintAccessToken: (client, lifetimeMs, context) => {
          const known = cached.get(client.id);
          const alive = known !== undefined && sound.accessTokenIsAlive(known, context);
          return alive ? known.token : sound.mintAccessToken(client, lifetimeMs, context);
        },
        keepAccessToken: (record, context) => {
          cached.set(record.clientId, record);
          sound.keepAccessToken(record, context);
        },
      };
    },
  ),
  "refresh-token-one-per-client": defect(
    "Every exchange of a client yields the same refreshToken.",
    ["exchange.tokens-are-fresh"],
    (sound) => {
      const tokens = new Map<string, string>();
      return {
        mintRefreshToken: (client, context) => {
          const token = tokens.get(client.id) ?? sound.mintRefreshToken(client, context);
          tokens.set(client.id, token);
          return token;
        },
      };
    },
  ),
  "tokens-derived-from-time": defect(
    "Tokens are derived from the millisecond of their issue.",
    ["exchange.tokens-are-fresh"],
    () => ({
      mintAccessToken: (client, _lifetimeMs, { nowMs }) =>
        randomFrom(nowMs * 2 + client.id.charCodeAt(0)).token(32),
    }),
  ),
  "tokens-shared-by-concurrent-exchanges": defect(
    "Exchanges within the same few milliseconds get the same accessToken.",
    ["exchange.tokens-are-fresh"],
    (sound) => {
      let last = { token: "", atMs: -Infinity };
      return {
        mintAccessToken: (client, lifetimeMs, context) => {
          const atMs = context.clock.realMs();
          if (atMs - last.atMs > 3) {
            last = { token: sound.mintAccessToken(client, lifetimeMs, context), atMs };
          }
          return last.token;
        },
      };
    },
  ),
  "tokens-same-for-every-client": defect(
    "Each client's tokens come from a generator that starts with the same seed.",
    ["exchange.tokens-are-fresh"],
    () => mintedPer((clientId) => clientId),
  ),

  "access-token-works-a-second-later": defect(
    "An accessToken is known to the notification list only a second after its issue.",
    ["exchange.access-token-works", "refresh.access-token-works"],
    (sound) => ({
      accessTokenIsAlive: (record, context) =>
        sound.accessTokenIsAlive(record, context) && context.nowMs - record.issuedAtMs >= SECOND_MS,
    }),
  ),
  "access-token-replicated-late": defect(
    "An accessToken reaches the notification list forty milliseconds after its issue.",
    ["exchange.access-token-works", "refresh.access-token-works"],
    (sound) => {
      const keptAtMs = new WeakMap<AccessRecord, number>();
      return {
        keepAccessToken: (record, context) => {
          keptAtMs.set(record, context.clock.realMs());
          sound.keepAccessToken(record, context);
        },
        accessTokenIsAlive: (record, context) =>
          sound.accessTokenIsAlive(record, context) &&
          context.clock.realMs() - (keptAtMs.get(record) ?? 0) > 40,
      };
    },
  ),
  "access-token-bound-to-connection": defect(
    "An accessToken works on the connection only that it was fetched on.",
    ["exchange.access-token-works"],
    (sound) => {
      const connections = new WeakMap<AccessRecord, object>();
      return {
        keepAccessToken: (record, context) => {
          if (!record.refreshed) connections.set(record, context.from.socket);
          sound.keepAccessToken(record, context);
        },
        accessTokenIsAlive: (record, context) =>
          sound.accessTokenIsAlive(record, context) &&
          (connections.get(record) ?? context.from.socket) === context.from.socket,
      };
    },
  ),
  "access-token-refused-at-first-use": defect(
    "The first use of an exchanged accessToken is refused while a cache is filled.",
    ["exchange.access-token-works"],
    (sound) => {
      const used = new WeakSet<AccessRecord>();
      return {
        accessTokenIsAlive: (record, context) => {
          const warm = used.has(record) || record.refreshed;
          used.add(record);
          return warm && sound.accessTokenIsAlive(record, context);
        },
      };
    },
  ),
  "access-token-works-after-first-refresh": defect(
    "Only accessTokens that a refresh brought open the list.",
    ["exchange.access-token-works"],
    (sound) => ({
      accessTokenIsAlive: (record, context) => record.refreshed && sound.accessTokenIsAlive(record, context),
    }),
  ),
} satisfies Record<string, Defect>;
