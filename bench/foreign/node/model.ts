import type { DatabaseSync } from "node:sqlite";
import { setTimeout } from "node:timers/promises";
import type { AuthorizationCodeModel, Client, RefreshTokenModel, User } from "@node-oauth/oauth2-server";

/**
 * Minimum time of a database write across a network, in milliseconds. It shows: the library computes expiresIn after
 * it, so tokens always state a second less than they live.
 */
const NETWORK_MS = 2;

/** The resource owner, who is always signed in and always consents. */
export const owner: User = { id: "owner" };

/** The store that the library requires (its guide, "Model Specification"), over SQLite; decides nothing. */
export const createModel = (store: DatabaseSync): AuthorizationCodeModel & RefreshTokenModel => {
  const clientById = store.prepare("SELECT id, secret, redirect_uri FROM clients WHERE id = ?");
  const codes = tableOf(store, "codes");
  const accessTokens = tableOf(store, "access_tokens");
  const refreshTokens = tableOf(store, "refresh_tokens");
  return {
    // The library passes no secret if it does not authenticate the client, at authorize and refresh; otherwise it
    // passes whatever was in the request, of any type.
    getClient: async (id, secret: unknown) => {
      const row = clientById.get(id);
      const isToAuthenticate = secret !== null && secret !== undefined;
      if (row === undefined || (isToAuthenticate && secret !== row["secret"])) return undefined;
      return { ...clientOf(row["id"]), redirectUris: [String(row["redirect_uri"])] };
    },
    saveAuthorizationCode: async (code, client, user) => {
      codes.save(code.authorizationCode, client, code.expiresAt);
      return { ...code, client, user };
    },
    // The redirectUri is not stored: if the library knows one it requires it again at the exchange (RFC 6749 section
    // 4.1.3), and the document's exchange has none.
    getAuthorizationCode: async (authorizationCode) => {
      const code = codes.find(authorizationCode);
      return code && { ...code, authorizationCode, redirectUri: "", user: owner };
    },
    revokeAuthorizationCode: async (code) => codes.remove(code.authorizationCode),
    saveToken: async (token, client, user) => {
      await setTimeout(NETWORK_MS);
      if (token.accessTokenExpiresAt !== undefined)
        accessTokens.save(token.accessToken, client, token.accessTokenExpiresAt);
      if (token.refreshToken !== undefined && token.refreshTokenExpiresAt !== undefined)
        refreshTokens.save(token.refreshToken, client, token.refreshTokenExpiresAt);
      return { ...token, client, user };
    },
    getAccessToken: async (accessToken) => {
      const token = accessTokens.find(accessToken);
      return (
        token && { accessToken, accessTokenExpiresAt: token.expiresAt, client: token.client, user: owner }
      );
    },
    getRefreshToken: async (refreshToken) => {
      const token = refreshTokens.find(refreshToken);
      return (
        token && { refreshToken, refreshTokenExpiresAt: token.expiresAt, client: token.client, user: owner }
      );
    },
    revokeToken: async (token) => refreshTokens.remove(token.refreshToken),
  };
};

const clientOf = (id: unknown): Client => ({
  id: String(id),
  grants: ["authorization_code", "refresh_token"],
});

/** A table of values that belong to a client and expire. */
const tableOf = (store: DatabaseSync, name: "codes" | "access_tokens" | "refresh_tokens") => {
  const insert = store.prepare(`INSERT INTO ${name} (value, client_id, expires_at_ms) VALUES (?, ?, ?)`);
  const select = store.prepare(`SELECT client_id, expires_at_ms FROM ${name} WHERE value = ?`);
  const remove = store.prepare(`DELETE FROM ${name} WHERE value = ?`);
  return {
    save: (value: string, client: Client, expiresAt: Date) =>
      insert.run(value, client.id, expiresAt.getTime()),
    find: (value: string) => {
      const row = select.get(value);
      return row && { client: clientOf(row["client_id"]), expiresAt: new Date(Number(row["expires_at_ms"])) };
    },
    /** Whether the value was there; only one caller gets true. */
    remove: (value: string) => remove.run(value).changes === 1,
  };
};
