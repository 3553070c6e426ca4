import { DAY_MS, MINUTE_MS } from "../../conformance/contract/duration.ts";
import type { FakeClient } from "../clients.ts";
import type { AccessRecord, RefreshRecord } from "../context.ts";
import { afterwards, change, decisions, type Replacement, rows } from "../registry.ts";
import { counted } from "./tools.ts";

/** Access tokens marked by how their refresh came about live for a part of their promised life, or for a multiple. */
const livingBy = (
  part: number,
  marks: (record: RefreshRecord, previous: AccessRecord, refreshes: number, nowMs: number) => boolean,
): Replacement =>
  decisions((sound, uses = counted(), marked = new WeakSet<AccessRecord>()) => ({
    afterRefresh: (record, previous, context) => {
      sound.afterRefresh(record, previous, context);
      if (marks(record, previous, uses(record), context.nowMs)) marked.add(record.latestAccess);
    },
    accessTokenIsAlive: (record, context) => {
      const ageMs = context.nowMs - record.issuedAtMs;
      return sound.accessTokenIsAlive(
        record,
        marked.has(record) ? { ...context, nowMs: record.issuedAtMs + ageMs / part } : context,
      );
    },
  }));

const noClient: FakeClient = { id: "", secret: "", redirectUri: "" };

/** What goes wrong only after a history of refreshes that is longer, later or busier than one refresh. */
export const refreshHistoryDefects = rows({
  "access.lifetime": {
    "refreshed-again-lives-twice-as-long: After the first refresh, accessTokens live twice as long as told.":
      livingBy(2, (_record, _previous, refreshes) => refreshes > 1),
    "refreshed-tenth-time-lives-twice-as-long: From the tenth refresh on, accessTokens live twice as long.":
      livingBy(2, (_record, _previous, refreshes) => refreshes >= 10),
    "refreshed-late-lives-half-as-long: A refresh after expiry yields an accessToken of half the life.":
      livingBy(
        0.5,
        (_record, previous, _refreshes, nowMs) => nowMs - previous.issuedAtMs > previous.lifetimeMs,
      ),
    "refreshed-within-a-minute-is-the-same-token: For a minute a refresh repeats the token as if new.":
      afterwards("afterRefresh", (record, previous, context) => {
        if (previous.refreshed && context.nowMs - previous.issuedAtMs < MINUTE_MS)
          record.latestAccess = previous;
      }),
  },
  "refresh.lifetime-is-from-issue": {
    "refresh-token-restarted-by-fifth-use: Every fifth use starts the 30 days again.": decisions(
      (sound, uses = counted()) => ({
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          if (uses(record) % 5 === 0) record.issuedAtMs = context.nowMs;
        },
      }),
    ),
    "refresh-token-restarted-by-refused-use: A refresh refused for its client restarts the 30 days.":
      afterwards("afterRefusedRefresh", (record, kind, context) => {
        if (record !== undefined && kind !== "refresh-token-expired") record.issuedAtMs = context.nowMs;
      }),
  },
  "refresh.returns-no-refresh-token": {
    "refresh-returns-refresh-token-late-in-life: After 20 days a refresh returns the refreshToken.": change(
      "refreshFields",
      (fields, tokens, _timestamp, _expiresIn, context) =>
        context.nowMs - tokens.issuedAtMs > 20 * DAY_MS ? { ...fields, refreshToken: tokens.token } : fields,
    ),
  },
  "refresh.token-set": {
    "refresh-without-expires-in-late-in-life: After a week the answer to a refresh lacks expiresIn.": change(
      "refreshFields",
      (fields, tokens, _timestamp, expiresIn, context) =>
        context.nowMs - tokens.issuedAtMs > 7 * DAY_MS ? { ...fields, expiresIn: undefined } : fields,
    ),
  },
  "refresh.unknown-client": {
    "refresh-client-checked-once: The client of a refreshToken is checked at its first use only.": decisions(
      (sound, used = new WeakSet<RefreshRecord>()) => ({
        findClientToRefresh: (clientId, clients) => sound.findClientToRefresh(clientId, clients) ?? noClient,
        refreshTokenBelongsTo: (record, client) =>
          used.has(record) || sound.refreshTokenBelongsTo(record, client),
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          used.add(record);
        },
      }),
    ),
  },
});
