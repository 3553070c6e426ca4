import { DatabaseSync } from "node:sqlite";
import type { ForeignClient } from "../services.ts";

/** Opens the service's database, creates missing tables and registers the clients. Throws if the file cannot be used. */
export const openStore = (file: string, clients: readonly ForeignClient[]): DatabaseSync => {
  const store = new DatabaseSync(file);
  store.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = NORMAL;
    CREATE TABLE IF NOT EXISTS clients (
      id TEXT PRIMARY KEY, secret TEXT NOT NULL, redirect_uri TEXT NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS codes (
      value TEXT PRIMARY KEY, client_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS access_tokens (
      value TEXT PRIMARY KEY, client_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS refresh_tokens (
      value TEXT PRIMARY KEY, client_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE IF NOT EXISTS notifications (
      sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, account_id TEXT NOT NULL, create_time TEXT NOT NULL,
      business_type TEXT NOT NULL, business_status TEXT NOT NULL, remark TEXT NOT NULL, data TEXT NOT NULL,
      status TEXT NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS notifications_by_account ON notifications (account_id);
  `);
  const register = store.prepare(
    "INSERT OR REPLACE INTO clients (id, secret, redirect_uri) VALUES (?, ?, ?)",
  );
  for (const { id, secret, redirectUri } of clients) register.run(id, secret, redirectUri);
  return store;
};
