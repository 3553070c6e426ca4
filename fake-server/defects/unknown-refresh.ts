import type { Behaviour } from "../behaviour.ts";
import type { FakeClient } from "../clients.ts";
import type { AccessRecord, CodeRecord, RefreshRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";
import { asText, firstLike, lastOf } from "./tools.ts";

/** Refresh tokens found by a comparison that is not equality. */
const comparing =
  (matches: (stored: string, presented: string) => boolean) => (): Pick<Behaviour, "findRefreshToken"> => ({
    findRefreshToken: (presented, { credentials }) =>
      firstLike(credentials.refreshTokens, presented, matches),
  });

/** Clients that a refresh takes a clientId for; without one that is found, whose token it is decides. */
const identifying =
  (found: (client: FakeClient, presented: unknown) => boolean) =>
  (): Pick<Behaviour, "findClientToRefresh" | "refreshTokenBelongsTo"> => ({
    findClientToRefresh: (clientId, clients) =>
      (typeof clientId === "string" ? clients.get(clientId) : undefined) ??
      [...clients.values()].find((client) => found(client, clientId)),
    refreshTokenBelongsTo: () => true,
  });

const grantOf = (access: AccessRecord, nowMs: number): RefreshRecord => ({
  token: access.token,
  clientId: access.clientId,
  grant: access.grant,
  issuedAtMs: nowMs,
  revoked: false,
  latestAccess: access,
});

const accessFor = ({ code, clientId }: CodeRecord, nowMs: number): AccessRecord => ({
  token: code,
  clientId,
  grant: { clientId, revoked: false },
  lifetimeMs: 0,
  refreshed: false,
  issuedAtMs: nowMs,
  revoked: false,
});

/** Refresh tokens and clients that do not exist and pass all the same. */
export const unknownRefreshDefects = {
  "refresh-token-whatever-its-case": defect(
    "Refresh tokens are compared without regard to case.",
    ["refresh.unknown"],
    comparing((stored, presented) => stored.toLowerCase() === presented.toLowerCase()),
  ),
  "refresh-token-by-prefix": defect(
    "Refresh tokens are found by their first 20 characters.",
    ["refresh.unknown"],
    comparing((stored, presented) => presented.length >= 20 && stored.startsWith(presented.slice(0, 20))),
  ),
  "refresh-token-with-suffix": defect(
    "Whatever follows a refreshToken is ignored.",
    ["refresh.unknown"],
    comparing((stored, presented) => presented.startsWith(stored)),
  ),
  "refresh-token-trimmed": defect(
    "White space around a refreshToken is cut off.",
    ["refresh.unknown"],
    comparing((stored, presented) => stored === presented.trim()),
  ),
  "refresh-token-in-array-accepted": defect(
    "An array that holds the refreshToken passes for it.",
    ["refresh.unknown"],
    (sound) => ({
      findRefreshToken: (presented, context) => sound.findRefreshToken(asText(presented), context),
    }),
  ),
  "refresh-token-empty-means-latest": defect(
    "An absent or empty refreshToken stands for the one that was issued last.",
    ["refresh.unknown"],
    (sound) => ({
      findRefreshToken: (presented, context) =>
        presented === undefined || presented === null || presented === ""
          ? lastOf(context.credentials.refreshTokens)
          : sound.findRefreshToken(presented, context),
    }),
  ),
  "refresh-token-may-be-access-token": defect(
    "A refresh can be had for an accessToken as well.",
    ["refresh.unknown"],
    (sound) => ({
      findRefreshToken: (presented, context) => {
        const access = context.credentials.accessTokens.get(String(presented));
        return access === undefined
          ? sound.findRefreshToken(presented, context)
          : grantOf(access, context.nowMs);
      },
    }),
  ),
  "refresh-token-may-be-code": defect(
    "A refresh can be had for a code as well.",
    ["refresh.unknown"],
    (sound) => ({
      findRefreshToken: (presented, context) => {
        const code = sound.findCode(presented, context);
        return code === undefined
          ? sound.findRefreshToken(presented, context)
          : grantOf(accessFor(code, context.nowMs), context.nowMs);
      },
    }),
  ),
  "refresh-token-of-right-form-accepted": defect(
    "What looks like a refreshToken is taken for one that another node has issued.",
    ["refresh.unknown"],
    (sound) => ({
      findRefreshToken: (presented, context) => {
        const latest = lastOf(context.credentials.accessTokens);
        const known = sound.findRefreshToken(presented, context);
        if (known !== undefined || latest === undefined) return known;
        return /^[\w-]{43}$/.test(String(presented)) ? grantOf(latest, context.nowMs) : undefined;
      },
      refreshTokenBelongsTo: () => true,
    }),
  ),

  "refresh-client-ignored": defect(
    "The clientId of a refresh is not looked at.",
    ["refresh.unknown-client"],
    identifying(() => true),
  ),
  "refresh-client-may-be-absent": defect(
    "A refresh without a clientId is served.",
    ["refresh.unknown-client"],
    identifying((_client, presented) => presented === undefined),
  ),
  "refresh-client-may-be-empty": defect(
    "A refresh with an empty clientId is served.",
    ["refresh.unknown-client"],
    identifying((_client, presented) => presented === ""),
  ),
  "refresh-client-whatever-its-case": defect(
    "The clientId of a refresh is compared without regard to case.",
    ["refresh.unknown-client"],
    identifying(({ id }, presented) => String(presented).toLowerCase() === id.toLowerCase()),
  ),
  "refresh-client-trimmed": defect(
    "White space around the clientId of a refresh is cut off.",
    ["refresh.unknown-client"],
    identifying(({ id }, presented) => typeof presented === "string" && presented.trim() === id),
  ),
} satisfies Record<string, Defect>;
