import { narrowed } from "../changes.ts";
import type { Context, Grant } from "../context.ts";
import { afterwards, change, keeping, rows, together } from "../registry.ts";

/** Revokes the grants of a client but for this many of the newest. */
const endSessions = (clientId: string, { credentials }: Context, kept = 0): void => {
  const own = [...credentials.refreshTokens.values()].filter((token) => token.clientId === clientId);
  for (const { grant } of own.slice(0, own.length - kept)) grant.revoked = true;
};

/** Transitions that work individually but fail in certain orders. */
export const lifecycleDefects = rows({
  "lifecycle.model": {
    "lifecycle-one-session-per-client: A new exchange revokes the client's earlier tokens.": afterwards(
      "afterExchange",
      ({ clientId }, _tokens, context) => endSessions(clientId, context, 1),
    ),
    "lifecycle-authorize-ends-sessions: A new authorization revokes all tokens of the client.": afterwards(
      "keepCode",
      ({ clientId }, context) => endSessions(clientId, context),
    ),
    "lifecycle-expired-code-ends-sessions: Trying an expired code revokes all tokens of the client.":
      afterwards("afterRefusedExchange", (record, kind, context) => {
        if (record !== undefined && kind === "code-expired") endSessions(record.clientId, context);
      }),
    "lifecycle-refresh-revives-expired-tokens: A refresh renews every accessToken of its grant.": {
      afterRefresh: (record, _previous, { credentials, nowMs }) => {
        for (const access of credentials.accessTokens.values())
          if (access.grant === record.grant) access.issuedAtMs = nowMs;
      },
    },
    "lifecycle-exchange-after-refresh-kills-refresh-token: An exchange after a refresh revokes the refreshToken.":
      afterwards("afterExchange", (record, tokens, context) => {
        for (const other of context.credentials.refreshTokens.values())
          if (other !== tokens && other.clientId === record.clientId && other.latestAccess.refreshed)
            other.revoked = true;
      }),
    "lifecycle-one-session-per-state: An authorization revokes all tokens that came of the same state.":
      keeping((states = new WeakMap<Grant, string>()) =>
        together(
          afterwards("keepCode", ({ state }, { credentials }) => {
            for (const { grant } of credentials.refreshTokens.values())
              if (states.get(grant) === state) grant.revoked = true;
          }),
          afterwards("afterExchange", ({ state }, { grant }) => void states.set(grant, state)),
        ),
      ),
    "lifecycle-refresh-revives-codes: A refresh renews every code.": afterwards(
      "afterRefresh",
      (_record, _previous, { credentials, nowMs }) => {
        for (const code of credentials.codes.values()) code.issuedAtMs = nowMs;
      },
    ),
    "lifecycle-authorize-ends-tokens-of-others: An authorization revokes other clients' accessTokens.":
      afterwards("keepCode", ({ clientId }, { credentials }) => {
        for (const token of credentials.accessTokens.values())
          if (token.clientId !== clientId) token.revoked = true;
      }),
    "lifecycle-totals-doubled: total is twice the number of matches.": change(
      "total",
      (total) => Number(total) * 2,
    ),
    "lifecycle-refresh-hides-newest-notification: A refreshed grant does not see the newest notification.":
      change("matching", (usual, _filters, { refreshed }) => {
        const { where, parameters } = usual;
        const beforeNewest = `sequence < (SELECT max(sequence) FROM notifications WHERE ${where})`;
        return refreshed ? narrowed({ ...usual, where: `(${where})` }, beforeNewest, ...parameters) : usual;
      }),
    "lifecycle-refresh-loses-notifications: After an odd number of refreshes no notification is stored.": (
      sound,
      refreshes = 0,
    ) => ({
      afterRefresh: (...subject) => {
        refreshes += 1;
        sound.afterRefresh(...subject);
      },
      keepNotification: (...subject) => {
        if (refreshes % 2 === 0) sound.keepNotification(...subject);
      },
    }),
  },
});
