import type { Context, Grant } from "../context.ts";
import { afterwards, change, decide, decisions, rows } from "../registry.ts";

/** Revokes every refresh token and grant of a client but the newest. */
const endOlderSessions = (clientId: string, { credentials }: Context): void => {
  const own = [...credentials.refreshTokens.values()].filter((token) => token.clientId === clientId);
  for (const token of own.slice(0, -1)) token.grant.revoked = true;
};

const endSessions = (clientId: string, { credentials }: Context): void => {
  for (const token of credentials.refreshTokens.values()) {
    if (token.clientId === clientId) token.grant.revoked = true;
  }
};

/** Transitions that work individually but fail in certain orders. */
export const lifecycleDefects = rows({
  "lifecycle.model": {
    "lifecycle-one-session-per-client: A new exchange revokes the client's earlier tokens.": afterwards(
      "afterExchange",
      (record, _tokens, context) => {
        endOlderSessions(record.clientId, context);
      },
    ),
    "lifecycle-authorize-ends-sessions: A new authorization revokes all tokens of the client.": decisions(
      (sound) => ({
        keepCode: (record, context) => {
          endSessions(record.clientId, context);
          sound.keepCode(record, context);
        },
      }),
    ),
    "lifecycle-expired-code-ends-sessions: Trying an expired code revokes all tokens of the client.":
      afterwards("afterRefusedExchange", (record, kind, context) => {
        if (record !== undefined && kind === "code-expired") endSessions(record.clientId, context);
      }),
    "lifecycle-refresh-revives-expired-tokens: A refresh renews every accessToken of its grant.": decide(
      "afterRefresh",
      (record, _previous, { credentials, nowMs }) => {
        for (const access of credentials.accessTokens.values()) {
          if (access.grant === record.grant) access.issuedAtMs = nowMs;
        }
      },
    ),
    "lifecycle-exchange-after-refresh-kills-refresh-token: An exchange after a refresh revokes the refreshToken.":
      afterwards("afterExchange", (record, tokens, context) => {
        for (const other of context.credentials.refreshTokens.values()) {
          if (other !== tokens && other.clientId === record.clientId && other.latestAccess.refreshed) {
            other.revoked = true;
          }
        }
      }),
    "lifecycle-one-session-per-state: An authorization revokes all tokens that came of the same state.":
      decisions((sound, states = new WeakMap<Grant, string>()) => ({
        keepCode: (record, context) => {
          for (const { grant } of context.credentials.refreshTokens.values())
            if (states.get(grant) === record.state) grant.revoked = true;
          sound.keepCode(record, context);
        },
        afterExchange: (record, tokens, context) => {
          states.set(tokens.grant, record.state);
          sound.afterExchange(record, tokens, context);
        },
      })),
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
      decisions((sound) => ({
        matching: (filters, viewer, context) => {
          const { where, parameters } = sound.matching(filters, viewer, context);
          if (!viewer.refreshed) return { where, parameters };
          return {
            where: `(${where}) AND sequence < (SELECT max(sequence) FROM notifications WHERE ${where})`,
            parameters: [...parameters, ...parameters],
          };
        },
      })),
    "lifecycle-refresh-loses-notifications: After an odd number of refreshes no notification is stored.":
      decisions((sound, refreshes = 0) => ({
        afterRefresh: (...subject) => {
          refreshes += 1;
          sound.afterRefresh(...subject);
        },
        keepNotification: (...subject) => {
          if (refreshes % 2 === 0) sound.keepNotification(...subject);
        },
      })),
  },
});
