import type { Replaces } from "./behaviour.ts";
import type { AccessRecord, CodeRecord, Context, RefreshRecord, ServiceLimits } from "./context.ts";
import { afterwards, keeping, together } from "./registry.ts";

interface Credential {
  readonly code: CodeRecord;
  readonly accessToken: AccessRecord;
  readonly refreshToken: RefreshRecord;
}
type Kind = keyof Credential;
type IsAlive<K extends Kind> = (record: Credential[K], context: Context) => boolean;
type Matches = (stored: string, presented: string) => boolean;

const decisionsOf = {
  code: { all: "codes", keep: "keepCode", find: "findCode", isAlive: "codeIsAlive" },
  accessToken: {
    all: "accessTokens",
    keep: "keepAccessToken",
    find: "findAccessToken",
    isAlive: "accessTokenIsAlive",
  },
  refreshToken: {
    all: "refreshTokens",
    keep: "keepRefreshToken",
    find: "findRefreshToken",
    isAlive: "refreshTokenIsAlive",
  },
} as const;

const promisedMs: { readonly [K in Kind]: (record: Credential[K], limits: ServiceLimits) => number } = {
  code: (_record, { codeLifetimeMs }) => codeLifetimeMs,
  accessToken: ({ lifetimeMs }) => lifetimeMs,
  refreshToken: (_record, { refreshTokenLifetimeMs }) => refreshTokenLifetimeMs,
};

/** A code is used up rather than revoked: its grant may end without it. */
const isRevoked = (record: Credential[Kind]): boolean =>
  "revoked" in record && (record.revoked || record.grant.revoked);

/** What can go wrong in the life of every kind of credential. */
const livesOf = <K extends Kind>(kind: K) => {
  type R = Credential[K];
  const { all, keep, isAlive } = decisionsOf[kind];

  /** They live while a different condition holds, unless they are revoked. */
  const liveWhile =
    (holds: IsAlive<K>): Replaces =>
    () => ({ [isAlive]: (record: R, context: Context) => !isRevoked(record) && holds(record, context) });

  /** Their age counts as this many milliseconds more. */
  const areOlderBy =
    (byMs: (record: R, context: Context) => number): Replaces =>
    (sound) => ({
      [isAlive]: (record: R, context: Context) =>
        (sound[isAlive] as IsAlive<K>)(record, {
          ...context,
          nowMs: context.nowMs + byMs(record, context),
        }),
    });

  return {
    liveWhile,
    areOlderBy,
    /** They have a different lifetime than promised, counted from their issue. */
    liveFor: (lifetimeMs: number | ((record: R) => number)) =>
      liveWhile(
        (record, { nowMs }) =>
          nowMs - record.issuedAtMs < (typeof lifetimeMs === "number" ? lifetimeMs : lifetimeMs(record)),
      ),
    /** Their age is computed in a different way. */
    ageAs: (age: (ageMs: number, issuedAtMs: number, nowMs: number) => number) =>
      liveWhile(
        (record, { nowMs, limits }) =>
          age(nowMs - record.issuedAtMs, record.issuedAtMs, nowMs) < promisedMs[kind](record, limits),
      ),
    /** They are spread over eight stores in turn; those in the last one live this much longer than they should. */
    liveLongerInOneStore: (byMs: number) =>
      keeping((kept = 0, inLast = new WeakSet<object>()) =>
        together(
          afterwards(keep, (...[record]) => {
            kept += 1;
            if (kept % 8 === 0) inLast.add(record);
          }),
          areOlderBy((record) => (inLast.has(record) ? -byMs : 0)),
        ),
      ),
    /** A client has at most this many of them; a new one invalidates the oldest. */
    areAtMost: (most: number) =>
      afterwards(keep, (...[{ clientId }, { credentials }]) => {
        const kept: Map<string, Credential[Kind]> = credentials[all];
        const own = [...kept].filter(([, record]) => record.clientId === clientId);
        for (const [key] of own.slice(0, -most)) kept.delete(key);
      }),
  };
};

/** What can go wrong where a presented text is compared with every kind of credential. */
const comparisonsOf = (kind: Kind) => {
  const { all, find } = decisionsOf[kind];

  /** The first one that a careless look-up matches; text only. */
  const like = (matches: Matches, presented: unknown, { credentials }: Context): unknown => {
    if (typeof presented !== "string") return undefined;
    const kept: ReadonlyMap<string, unknown> = credentials[all];
    return [...kept].find(([stored]) => matches(stored, presented))?.[1];
  };

  return {
    /** They are compared in a different way. */
    areCompared:
      (matches: Matches): Replaces =>
      () => ({ [find]: (presented: unknown, context: Context) => like(matches, presented, context) }),
    /** What is not found is compared in a different way. */
    areAlsoCompared:
      (matches: Matches): Replaces =>
      (sound) => ({
        [find]: (presented: string, context: Context) =>
          sound[find](presented, context) ?? like(matches, presented, context),
      }),
  };
};

/** An age computed as the difference of local times in a zone with summer time. */
export const byWallClockIn = (
  timeZone: string,
): ((ageMs: number, fromMs: number, toMs: number) => number) => {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  const shownMs = (momentMs: number): number =>
    Date.parse(`${format.format(momentMs).replace(" ", "T")}Z`) + (momentMs % 1_000);
  return (_ageMs, fromMs, toMs) => shownMs(toMs) - shownMs(fromMs);
};

/** The mistakes that can happen to every kind of credential: a defect is one of them with one of these. */
export const codes = { ...livesOf("code"), ...comparisonsOf("code") };
export const accessTokens = { ...livesOf("accessToken"), ...comparisonsOf("accessToken") };
export const refreshTokens = { ...livesOf("refreshToken"), ...comparisonsOf("refreshToken") };

/** Careless comparisons of stored and presented values. */
export const ignoringCase = (stored: string, presented: string): boolean =>
  stored.toLowerCase() === presented.toLowerCase();
export const ignoringDashes = (stored: string, presented: string): boolean =>
  stored.replaceAll("-", "") === presented.replaceAll("-", "");
export const ignoringSpace = (stored: string, presented: string): boolean => stored === presented.trim();
export const ignoringSuffix = (stored: string, presented: string): boolean => presented.startsWith(stored);
export const ignoringLast = (stored: string, presented: string): boolean =>
  presented.slice(0, stored.length - 1) === stored.slice(0, -1);
export const ignoringAfter = (characters: number) => (stored: string, presented: string) =>
  presented.length >= characters && stored.startsWith(presented.slice(0, characters));
export const inBase64 = (stored: string, presented: string): boolean =>
  Buffer.from(presented, "base64").toString() === stored;
