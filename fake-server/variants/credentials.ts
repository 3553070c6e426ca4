import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { CodeRecord, Context } from "../context.ts";
import type { RandomSource } from "../random.ts";
import { afterwards, change, given, type Replacement, together, variantRows } from "../registry.ts";

/** Codes and tokens in a different format. */
const minting = (mint: (random: RandomSource) => string): Replacement => ({
  mintCode: (_client, _state, { random }) => mint(random),
  mintAccessToken: (_client, _lifetimeMs, { random }) => mint(random),
  mintRefreshToken: (_client, { random }) => mint(random),
});

const accessLivingFor = (lifetimeMs: number): Replacement => ({ accessTokenLifetimeMs: () => lifetimeMs });

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const HEADER = encoded({ alg: "HS256", typ: "JWT" });

const jwt = (random: RandomSource, nowMs: number, lifetimeMs: number): string => {
  const iat = Math.floor(nowMs / SECOND_MS);
  const claims = { iat, exp: iat + Math.floor(lifetimeMs / SECOND_MS), jti: random.uuid() };
  return `${HEADER}.${encoded(claims)}.${random.token(32)}`;
};

const CLAIMS = encoded({ iss: "service" });

const signed = (random: RandomSource): string =>
  `${CLAIMS}.${Buffer.from(random.hex(32), "hex").toString("base64url")}`;

/** Decodes base64 of either alphabet and ignores padding, like lenient libraries. */
const canonical = (presented: unknown): unknown =>
  typeof presented === "string"
    ? presented
        .replaceAll("+", "-")
        .replaceAll("/", "_")
        .replaceAll(/={1,2}(?=\.|$)/g, "")
    : presented;

const wholeSeconds = (ms: number): number => Math.floor(ms / SECOND_MS) * SECOND_MS;

const inWholeSeconds = <R extends { readonly issuedAtMs: number }>(
  record: R,
  context: Context,
): [R, Context] => [
  { ...record, issuedAtMs: wholeSeconds(record.issuedAtMs) },
  { ...context, nowMs: wholeSeconds(context.nowMs) },
];

/** Variants of codes and tokens (section 2). */
export const credentialVariants = variantRows({
  "tokens-like-jwt: Tokens have the three parts of a JWT.": (_sound) => ({
    mintAccessToken: (_client, lifetimeMs, { random, nowMs }) => jwt(random, nowMs, lifetimeMs),
    mintRefreshToken: (_client, { random, nowMs, limits }) =>
      jwt(random, nowMs, limits.refreshTokenLifetimeMs),
  }),
  "refresh-token-revoked-as-stolen: A refreshToken that another client presents is taken for stolen and revoked.":
    afterwards("afterRefusedRefresh", (record, kind) => {
      if (record !== undefined && kind === "refresh-token-of-another-client") record.revoked = true;
    }),
  "credentials-in-hexadecimal: Codes and tokens are hexadecimal.": minting((random) => random.hex(24)),
  "credentials-in-base64: Codes and tokens are base64 with plus, slash and padding.": minting((random) =>
    Buffer.from(random.hex(25), "hex").toString("base64"),
  ),
  "credentials-signed: Credentials begin with the same characters and are decoded from base64 in any spelling.":
    together(
      minting(signed),
      given("findCode", (presented, context) => [canonical(presented), context]),
      given("findAccessToken", (presented, context) => [String(canonical(presented)), context]),
      given("findRefreshToken", (presented, context) => [canonical(presented), context]),
    ),
  "lifetimes-of-whole-seconds: Lifetimes count whole seconds from the second of issue, as with iat and exp in a JWT.":
    together(
      given("codeIsAlive", inWholeSeconds),
      given("refreshTokenIsAlive", inWholeSeconds),
      given("accessTokenIsAlive", inWholeSeconds),
    ),
  "credentials-that-no-header-holds: Codes and refreshTokens contain accents, symbols and line feeds.": {
    mintCode: (_client, _state, { random }) => `é\n${random.token(24)}💥`,
    mintRefreshToken: (_client, { random }) => `💥\n${random.token(24)}é`,
  },
  "credentials-as-uuid: Codes and tokens are two UUIDs in a row.": minting(
    (random) => `${random.uuid()}${random.uuid()}`,
  ),
  "credentials-very-long: Codes and tokens have more than a thousand characters.": minting((random) =>
    Array.from({ length: 8 }, () => random.token(96)).join("."),
  ),
  "credentials-with-marks: Codes and tokens start with their kind and contain dots, tildes and colons.":
    minting((random) => `v1:${random.token(16)}~${random.token(16)}.`),
  "access-for-a-minute: An accessToken lives for one minute.": accessLivingFor(MINUTE_MS),
  "access-for-five-minutes: An accessToken lives for five minutes.": accessLivingFor(5 * MINUTE_MS),
  "access-for-a-day: An accessToken lives for a day.": accessLivingFor(DAY_MS),
  "access-of-refresh-shorter: The accessToken of a refresh works for half an hour, as stated.": change(
    "accessTokenLifetimeMs",
    (usual, _client, context) => (context.operation === "refresh" ? 30 * MINUTE_MS : usual),
  ),
  "refresh-revokes-previous-access-token: A refresh revokes the previous accessToken.": {
    afterRefresh: (_record, previous) => {
      previous.revoked = true;
    },
  },
  "refresh-returns-live-access-token: A refresh returns the current accessToken if it has more than a minute left.":
    (sound) => ({
      afterRefresh: (record, previous, { credentials, nowMs }) => {
        if (previous.issuedAtMs + previous.lifetimeMs - nowMs < MINUTE_MS) return;
        credentials.accessTokens.delete(record.latestAccess.token);
        record.latestAccess = previous;
      },
      refreshFields: (tokens, timestamp, _expiresIn, context) => {
        const { issuedAtMs, lifetimeMs } = tokens.latestAccess;
        const remainingMs = issuedAtMs + lifetimeMs - context.nowMs;
        return sound.refreshFields(tokens, timestamp, remainingMs / SECOND_MS, context);
      },
    }),
  "code-burned-by-failed-attempt: A refused attempt uses the code up.": afterwards(
    "afterRefusedExchange",
    (record, _kind, context) => {
      if (record !== undefined) record.usedAtMs ??= context.nowMs;
    },
  ),
  "code-reuse-leaves-tokens: A code's reuse is refused but leaves its tokens valid.": {
    afterRefusedExchange: () => undefined,
  },
  "credentials-of-any-client: Codes and refreshTokens are not bound to a client.": {
    codeBelongsTo: () => true,
    refreshTokenBelongsTo: () => true,
  },
  "codes-with-label: Codes begin with a label.": change("mintCode", (code) => `ac_live_${code}`),
  "access-lifetimes-differ: AccessTokens work for one to five minutes in turn, as stated.": (
    _sound,
    issued = 0,
  ) => ({
    accessTokenLifetimeMs: () => MINUTE_MS * (1 + ((issued += 1) % 5)),
  }),
  "access-for-forty-days: An accessToken lives for forty days.": accessLivingFor(40 * DAY_MS),
  "exchanges-of-a-code-in-turn: Exchanges of one code are handled one after another, in a millisecond each.":
    (_sound, queues = new WeakMap<CodeRecord, Promise<unknown>>()) => ({
      takeCode: (record, { clock, nowMs }) => {
        const turn = (queues.get(record) ?? Promise.resolve()).then(async () => {
          await clock.pause(1);
          if (record.usedAtMs !== undefined) return false;
          record.usedAtMs = nowMs;
          return true;
        });
        queues.set(record, turn);
        return turn;
      },
    }),
  "refusals-and-refreshes-revoke: A refused exchange revokes its code and tokens; a refresh revokes the old accessToken.":
    {
      afterRefusedExchange: (record) => {
        if (record === undefined) return;
        record.usedAtMs ??= 0;
        if (record.grant !== undefined) record.grant.revoked = true;
      },
      afterRefresh: (_record, previous) => {
        previous.revoked = true;
      },
    },
});
