import type { Context } from "../context.ts";
import { type Defect, defect } from "../registry.ts";

/** Every refresh token and grant of a client but the newest is revoked. */
const endOlderSessions = (clientId: string, { credentials }: Context): void => {
  const own = [...credentials.refreshTokens.values()].filter((token) => token.clientId === clientId);
  for (const token of own.slice(0, -1)) token.grant.revoked = true;
};

const endSessions = (clientId: string, { credentials }: Context): void => {
  for (const token of credentials.refreshTokens.values()) {
    if (token.clientId === clientId) token.grant.revoked = true;
  }
};

/** Transitions that hold one by one and fail in certain orders. */
export const lifecycleDefects = {
  "lifecycle-one-session-per-client": defect(
    "A new exchange ends the client's earlier grants.",
    ["lifecycle.model"],
    (sound) => ({
      afterExchange: (record, tokens, context) => {
        sound.afterExchange(record, tokens, context);
        endOlderSessions(record.clientId, context);
      },
    }),
  ),
  "lifecycle-authorize-ends-sessions": defect(
    "A new authorization ends every grant that the client has.",
    ["lifecycle.model"],
    (sound) => ({
      keepCode: (record, context) => {
        endSessions(record.clientId, context);
        sound.keepCode(record, context);
      },
    }),
  ),
  "lifecycle-expired-code-ends-sessions": defect(
    "Trying an expired code ends every grant that the client has.",
    ["lifecycle.model"],
    (sound) => ({
      afterRefusedExchange: (record, kind, context) => {
        sound.afterRefusedExchange(record, kind, context);
        if (record !== undefined && kind === "code-expired") endSessions(record.clientId, context);
      },
    }),
  ),
  "lifecycle-refresh-revives-expired-tokens": defect(
    "A refresh gives every access token of its grant new life.",
    ["lifecycle.model"],
    () => ({
      afterRefresh: (record, _previous, { credentials, nowMs }) => {
        for (const access of credentials.accessTokens.values()) {
          if (access.grant === record.grant) access.issuedAtMs = nowMs;
        }
      },
    }),
  ),
  "lifecycle-exchange-after-refresh-kills-refresh-token": defect(
    "Once a refreshToken was used, the client's next exchange kills it.",
    ["lifecycle.model"],
    (sound) => ({
      afterExchange: (record, tokens, context) => {
        sound.afterExchange(record, tokens, context);
        for (const other of context.credentials.refreshTokens.values()) {
          if (other !== tokens && other.clientId === record.clientId && other.latestAccess.refreshed) {
            other.revoked = true;
          }
        }
      },
    }),
  ),
} satisfies Record<string, Defect>;
