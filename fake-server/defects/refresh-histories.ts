import { DAY_MS, MINUTE_MS } from "../../conformance/contract/duration.ts";
import type { FakeClient } from "../clients.ts";
import type { AccessRecord, RefreshRecord } from "../context.ts";
import { afterwards, change, decisions, type Replacement, rows } from "../registry.ts";
import { counted } from "./tools.ts";

/** Access tokens live for a fraction or multiple of their promised life, depending on their refresh. */
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

/** Defects that need a longer, later or busier history than a single refresh. */
export const refreshHistoryDefects = rows({
  "access.lifetime": {
    "refreshed-again-lives-twice-as-long: From the second refresh on, accessTokens work twice as long as expiresIn.":
      livingBy(2, (_record, _previous, refreshes) => refreshes > 1),
    "refreshed-tenth-time-lives-twice-as-long: From the tenth refresh on, accessTokens work twice as long as expiresIn.":
      livingBy(2, (_record, _previous, refreshes) => refreshes >= 10),
    "refreshed-late-lives-half-as-long: After a late refresh, accessTokens work for half of expiresIn.":
      livingBy(
        0.5,
        (_record, previous, _refreshes, nowMs) => nowMs - previous.issuedAtMs > previous.lifetimeMs,
      ),
    "refreshed-within-a-minute-is-the-same-token: A second refresh within a minute returns the same accessToken and expiresIn.":
      afterwards("afterRefresh", (record, previous, context) => {
        if (previous.refreshed && context.nowMs - previous.issuedAtMs < MINUTE_MS)
          record.latestAccess = previous;
      }),
  },
  "refresh.lifetime-is-from-issue": {
    "refresh-token-restarted-by-fifth-use: Every fifth use restarts the 30 days.": decisions(
      (sound, uses = counted()) => ({
        afterRefresh: (record, previous, context) => {
          sound.afterRefresh(record, previous, context);
          if (uses(record) % 5 === 0) record.issuedAtMs = context.nowMs;
        },
      }),
    ),
    "refresh-token-restarted-by-refused-use: A refresh by the wrong client restarts the 30 days.": afterwards(
      "afterRefusedRefresh",
      (record, kind, context) => {
        if (record !== undefined && kind !== "refresh-token-expired") record.issuedAtMs = context.nowMs;
      },
    ),
  },
  "refresh.returns-no-refresh-token": {
    "refresh-returns-refresh-token-late-in-life: After 20 days a refresh returns the refreshToken.": change(
      "refreshFields",
      (fields, tokens, _timestamp, _expiresIn, context) =>
        context.nowMs - tokens.issuedAtMs > 20 * DAY_MS ? { ...fields, refreshToken: tokens.token } : fields,
    ),
  },
  "refresh.token-set": {
    "refresh-without-expires-in-late-in-life: After a week the answer to a refresh has no expiresIn.": change(
      "refreshFields",
      (fields, tokens, _timestamp, expiresIn, context) =>
        context.nowMs - tokens.issuedAtMs > 7 * DAY_MS ? { ...fields, expiresIn: undefined } : fields,
    ),
  },
  "refresh.unknown-client": {
    "refresh-client-checked-once: The client is checked only at the first use of a refreshToken.": decisions(
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
