import type { Behaviour } from "../behaviour.ts";
import type { RandomSource } from "../random.ts";
import { type Variant, variant } from "../registry.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1_440 * MINUTE_MS;

/** Codes and tokens of another look. */
const minting =
  (mint: (random: RandomSource, nowMs: number) => string) =>
  (): Pick<Behaviour, "mintCode" | "mintAccessToken" | "mintRefreshToken"> => ({
    mintCode: (_client, _state, { random, nowMs }) => mint(random, nowMs),
    mintAccessToken: (_client, _lifetimeMs, { random, nowMs }) => mint(random, nowMs),
    mintRefreshToken: (_client, { random, nowMs }) => mint(random, nowMs),
  });

const accessLivingFor = (lifetimeMs: number) => (): Pick<Behaviour, "accessTokenLifetimeMs"> => ({
  accessTokenLifetimeMs: () => lifetimeMs,
});

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const HEADER = encoded({ alg: "HS256", typ: "JWT" });

const jwt = (random: RandomSource, nowMs: number, lifetimeMs: number): string => {
  const iat = Math.floor(nowMs / SECOND_MS);
  const claims = { iat, exp: iat + Math.floor(lifetimeMs / SECOND_MS), jti: random.uuid() };
  return `${HEADER}.${encoded(claims)}.${random.token(32)}`;
};

/** Codes and tokens (section 2) where the document leaves room. */
export const credentialVariants = {
  "tokens-like-jwt": variant("Tokens have the three parts of a JWT.", () => {
    return {
      mintAccessToken: (_client, lifetimeMs, { random, nowMs }) => jwt(random, nowMs, lifetimeMs),
      mintRefreshToken: (_client, { random, nowMs, limits }) =>
        jwt(random, nowMs, limits.refreshTokenLifetimeMs),
    };
  }),
  "credentials-in-hexadecimal": variant(
    "Codes and tokens are hexadecimal digits.",
    minting((random) => random.hex(24)),
  ),
  "credentials-in-base64": variant(
    "Codes and tokens are base64 with plus, slash and padding.",
    minting((random) => Buffer.from(random.hex(25), "hex").toString("base64")),
  ),
  "credentials-as-uuid": variant(
    "Codes and tokens are two UUIDs in a row.",
    minting((random) => `${random.uuid()}${random.uuid()}`),
  ),
  "credentials-very-long": variant(
    "Codes and tokens have more than a thousand characters.",
    minting((random) => Array.from({ length: 8 }, () => random.token(96)).join(".")),
  ),
  "credentials-with-marks": variant(
    "Codes and tokens begin with what they are and hold dots, tildes and colons.",
    minting((random) => `v1:${random.token(16)}~${random.token(16)}.`),
  ),

  "access-for-a-minute": variant("An accessToken lives for one minute.", accessLivingFor(MINUTE_MS)),
  "access-for-five-minutes": variant(
    "An accessToken lives for five minutes.",
    accessLivingFor(5 * MINUTE_MS),
  ),
  "access-for-a-day": variant("An accessToken lives for a day.", accessLivingFor(DAY_MS)),
  "access-of-refresh-shorter": variant(
    "The accessToken of a refresh lives for half an hour, and says so.",
    (sound) => ({
      accessTokenLifetimeMs: (client, context) =>
        context.operation === "refresh" ? 30 * MINUTE_MS : sound.accessTokenLifetimeMs(client, context),
    }),
  ),
  "refresh-revokes-previous-access-token": variant("A refresh revokes the accessToken before.", () => ({
    afterRefresh: (_record, previous) => {
      previous.revoked = true;
    },
  })),
  "refresh-returns-live-access-token": variant(
    "While the accessToken has a minute to live, a refresh returns it again, with what remains of its life.",
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
  ),

  "code-burned-by-failed-attempt": variant("A refused attempt uses the code up.", (sound) => ({
    afterRefusedExchange: (record, kind, context) => {
      sound.afterRefusedExchange(record, kind, context);
      if (record !== undefined) record.usedAtMs ??= context.nowMs;
    },
  })),
  "code-reuse-leaves-tokens": variant(
    "Presenting a code again is refused and leaves its tokens alone.",
    () => ({
      afterRefusedExchange: () => undefined,
    }),
  ),
  "credentials-of-any-client": variant("Codes and refreshTokens are not bound to a client.", () => ({
    codeBelongsTo: () => true,
    refreshTokenBelongsTo: () => true,
  })),
} satisfies Record<string, Variant>;
