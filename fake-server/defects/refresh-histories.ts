import type { FakeClient } from "../clients.ts";
import type { AccessRecord, RefreshRecord } from "../credentials.ts";
import { type Defect, defect } from "../registry.ts";
import { DAY_MS, MINUTE_MS } from "./tools.ts";

/** What is remembered of each refresh token. */
const remembering = <T>(
  first: T,
): { of: (record: RefreshRecord) => T; set: (record: RefreshRecord, now: T) => void } => {
  const known = new WeakMap<RefreshRecord, T>();
  return { of: (record) => known.get(record) ?? first, set: (record, now) => void known.set(record, now) };
};

/** Access tokens marked by how their refresh came about live for a part of their promised life, or for a multiple. */
const livingBy =
  (
    part: number,
    marks: (record: RefreshRecord, previous: AccessRecord, refreshes: number, nowMs: number) => boolean,
  ) =>
  (sound: Parameters<Defect["replaces"]>[0]) => {
    const uses = remembering(0);
    const marked = new WeakSet<AccessRecord>();
    return {
      afterRefresh: ((record, previous, context) => {
        sound.afterRefresh(record, previous, context);
        uses.set(record, uses.of(record) + 1);
        if (marks(record, previous, uses.of(record), context.nowMs)) marked.add(record.latestAccess);
      }) satisfies typeof sound.afterRefresh,
      accessTokenIsAlive: ((record, context) => {
        const ageMs = context.nowMs - record.issuedAtMs;
        return sound.accessTokenIsAlive(
          record,
          marked.has(record) ? { ...context, nowMs: record.issuedAtMs + ageMs / part } : context,
        );
      }) satisfies typeof sound.accessTokenIsAlive,
    };
  };

const nobody: FakeClient = { id: "", secret: "", redirectUri: "" };

/** What goes wrong only after a history of refreshes that is longer, later or busier than one refresh. */
export const refreshHistoryDefects = {
  "refreshed-again-lives-twice-as-long": defect(
    "The accessToken of every refresh but the first lives for twice what expiresIn says.",
    ["access.lifetime"],
    livingBy(2, (_record, _previous, refreshes) => refreshes > 1),
  ),
  "refreshed-tenth-time-lives-twice-as-long": defect(
    "The accessToken of the tenth refresh and of later ones lives for twice what expiresIn says.",
    ["access.lifetime"],
    livingBy(2, (_record, _previous, refreshes) => refreshes >= 10),
  ),
  "refreshed-late-lives-half-as-long": defect(
    "The accessToken of a refresh that comes after its predecessor's end lives for half of what expiresIn says.",
    ["access.lifetime"],
    livingBy(
      0.5,
      (_record, previous, _refreshes, nowMs) => nowMs - previous.issuedAtMs > previous.lifetimeMs,
    ),
  ),
  "refreshed-within-a-minute-is-the-same-token": defect(
    "Within a minute a refresh answers with the same accessToken and a whole expiresIn again.",
    ["access.lifetime"],
    (sound) => ({
      afterRefresh: (record, previous, context) => {
        sound.afterRefresh(record, previous, context);
        if (previous.refreshed && context.nowMs - previous.issuedAtMs < MINUTE_MS)
          record.latestAccess = previous;
      },
    }),
  ),
  "refresh-token-restarted-by-fifth-use": defect(
    "Every fifth use starts the 30 days again.",
    ["refresh.lifetime-is-from-issue"],
    (sound) => {
      const uses = remembering(0);
      return {
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          uses.set(record, uses.of(record) + 1);
          if (uses.of(record) % 5 === 0) record.issuedAtMs = context.nowMs;
        },
      };
    },
  ),
  "refresh-token-restarted-by-refused-use": defect(
    "A refresh that is refused for its client starts the 30 days of its refreshToken again.",
    ["refresh.lifetime-is-from-issue"],
    (sound) => ({
      afterRefusedRefresh: (record, kind, context) => {
        sound.afterRefusedRefresh(record, kind, context);
        if (record !== undefined && kind !== "refresh-token-expired") record.issuedAtMs = context.nowMs;
      },
    }),
  ),
  "refresh-returns-refresh-token-late-in-life": defect(
    "After 20 days a refresh returns the refreshToken.",
    ["refresh.returns-no-refresh-token"],
    (sound) => ({
      refreshFields: (tokens, timestamp, expiresIn, context) => {
        const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
        return context.nowMs - tokens.issuedAtMs > 20 * DAY_MS
          ? { ...fields, refreshToken: tokens.token }
          : fields;
      },
    }),
  ),
  "refresh-without-expires-in-late-in-life": defect(
    "After a week the answer to a refresh lacks expiresIn.",
    ["refresh.token-set"],
    (sound) => ({
      refreshFields: (tokens, timestamp, expiresIn, context) => {
        const fields = sound.refreshFields(tokens, timestamp, expiresIn, context);
        return context.nowMs - tokens.issuedAtMs > 7 * DAY_MS ? { ...fields, expiresIn: undefined } : fields;
      },
    }),
  ),
  "refresh-client-checked-once": defect(
    "Whose a refreshToken is, and who asks, is looked at in its first use alone.",
    ["refresh.unknown-client"],
    (sound) => {
      const used = remembering(false);
      return {
        findClientToRefresh: (clientId, clients) => sound.findClientToRefresh(clientId, clients) ?? nobody,
        refreshTokenBelongsTo: (record, client) =>
          used.of(record) || sound.refreshTokenBelongsTo(record, client),
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          used.set(record, true);
        },
      };
    },
  ),
} satisfies Record<string, Defect>;
