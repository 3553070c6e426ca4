import { HOUR_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { Fields } from "../answer.ts";
import { counted, drawnBy, remembered, asText } from "../changes.ts";
import { type FakeClient, unregistered } from "../clients.ts";
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
import { createHash } from "node:crypto";
import { isObject } from "../../conformance/contract/json.ts";
import { ignoringCase, ignoringLast, ignoringSpace, ignoringSuffix } from "../credentials.ts";

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

type Clients = ReadonlyMap<string, FakeClient>;

const clientOf = (clientId: unknown, clients: Clients): FakeClient | undefined =>
  typeof clientId === "string" ? clients.get(clientId) : undefined;

/** Secrets that satisfy `accepts`. */
const accepting = (
  accepts: (secret: string, presented: unknown, clients: Clients) => boolean,
): Replacement => ({
  authenticateClient: (clientId, clientSecret, clients) => {
    const client = clientOf(clientId, clients);
    return client !== undefined && accepts(client.secret, clientSecret, clients) ? client : undefined;
  },
});

const acceptingText = (accepts: (secret: string, presented: string) => boolean): Replacement =>
  accepting((secret, presented) => typeof presented === "string" && accepts(secret, presented));

/** The right secret, or no secret but this value. */
const acceptingAlso = (value: unknown): Replacement =>
  accepting((secret, presented) => presented === value || presented === secret);

/** Accepts a clientId if `found` matches a client and the secret is right. */
const identifying = (found: (id: string, presented: unknown) => boolean): Replacement => ({
  authenticateClient: (clientId, clientSecret, clients) =>
    [...clients.values()].find((client) => client.secret === clientSecret && found(client.id, clientId)),
});

/** Defects in client authentication (sections 4.2 and 5.1). */
export const clientDefects = rows({
  "exchange.authenticates-client": {
    "secret-ignored: The secret is not checked.": accepting(() => true),
    "secret-may-be-absent: A request without a secret is accepted.": acceptingAlso(undefined),
    "secret-may-be-null: null is accepted as every client's secret.": acceptingAlso(null),
    "secret-may-be-empty: An empty secret is accepted.": acceptingAlso(""),
    "secret-may-be-other-type: Anything that is not a string is accepted as the secret.": accepting(
      (secret, presented) =>
        presented === secret ||
        (presented !== undefined && presented !== null && typeof presented !== "string"),
    ),
    "secret-in-array-accepted: An array that contains the secret is accepted.": accepting(
      (secret, presented) => asText(presented) === secret,
    ),
    "secret-object-names-its-column: An object in place of the secret names the column, whose comparison with itself is true.":
      accepting(
        (secret, presented) => presented === secret || (isObject(presented) && "client_secret" in presented),
      ),
    "secret-whatever-its-case: Secrets are compared case-insensitively.": acceptingText(ignoringCase),
    "secret-by-prefix: Any prefix of the secret is accepted.": acceptingText(
      (secret, presented) => presented !== "" && secret.startsWith(presented),
    ),
    "secret-by-its-first-eight: Only the first eight characters of a secret are compared.": acceptingText(
      (secret, presented) => presented.slice(0, 8) === secret.slice(0, 8),
    ),
    "secret-but-for-last-character: The last character of a secret is ignored.": acceptingText(ignoringLast),
    "secret-trimmed: White space around the secret is removed.": acceptingText(ignoringSpace),
    "secret-with-suffix: Whatever follows the secret is ignored.": acceptingText(ignoringSuffix),
    "secret-of-any-client: The secret of any client is accepted.": accepting((_secret, presented, clients) =>
      [...clients.values()].some((client) => client.secret === presented),
    ),
    "secret-remembered: A client that has sent its secret once never needs it again.": keeping(
      (known = new Set<string>()) =>
        change("authenticateClient", (client, clientId, _secret, clients) => {
          if (client !== undefined) known.add(client.id);
          return client ?? (known.has(String(clientId)) ? clientOf(clientId, clients) : undefined);
        }),
    ),
    "secret-right-at-fifth-attempt: A secret that was refused four times is accepted.": keeping(
      (attempts = counted(new Map())) =>
        change("authenticateClient", (usual, clientId, secret, clients) =>
          attempts(secret) >= 5 && typeof secret === "string" && secret.length > 8
            ? clientOf(clientId, clients)
            : usual,
        ),
    ),
    "secret-by-longer-half: Any prefix of at least half of the secret is accepted.": acceptingText(
      (secret, presented) => presented.length > secret.length / 2 && secret.startsWith(presented),
    ),
    "secret-by-its-hash: The stored hash of a secret is accepted in its place.": acceptingText(
      (secret, presented) =>
        presented === secret || presented === createHash("sha256").update(secret).digest("hex"),
    ),
    "secret-of-great-length: Secrets of more than four thousand characters are not compared.": acceptingText(
      (secret, presented) => presented === secret || presented.length > 4_096,
    ),
  },
  "exchange.unknown-client": {
    "client-found-by-secret: The client is identified by the secret alone.": identifying(() => true),
    "client-id-may-be-absent: A clientId may be absent if the secret is right.": identifying(
      (id, presented) => presented === undefined || presented === id,
    ),
    "client-id-may-be-empty: A clientId may be empty if the secret is right.": identifying(
      (id, presented) => presented === "" || presented === id,
    ),
    "client-id-whatever-its-case: Client ids are compared case-insensitively.": identifying((id, presented) =>
      ignoringCase(id, String(presented)),
    ),
    "client-id-trimmed: White space around the clientId is removed.": identifying(
      (id, presented) => typeof presented === "string" && presented.trim() === id,
    ),
    "client-id-by-prefix: A client is looked up by the first half of its id.": identifying(
      (id, presented) => typeof presented === "string" && presented.slice(0, 10) === id.slice(0, 10),
    ),
    "client-id-in-array-accepted: An array that contains the clientId is accepted.": identifying(
      (id, presented) => asText(presented) === id,
    ),
    "client-id-of-plain-object: Clients are looked up in a plain object, so the id constructor is found.": {
      authenticateClient: (clientId, secret, clients) => {
        const known = Object.fromEntries(clients) as Record<string, { readonly secret?: string }>;
        const client = typeof clientId === "string" ? known[clientId] : undefined;
        if (client === undefined || client.secret !== secret) return undefined;
        return clients.get(String(clientId)) ?? [...clients.values()][0];
      },
    },
    "client-unknown-passes: Authorize and exchange accept an unknown client.": (sound) => ({
      findClientToAuthorize: (id, clients) =>
        sound.findClientToAuthorize(id, clients) ?? unregistered(id, clients),
      authenticateClient: (id, secret, clients) =>
        typeof id === "string" && !clients.has(id)
          ? unregistered(id, clients)
          : sound.authenticateClient(id, secret, clients),
    }),
  },
});
