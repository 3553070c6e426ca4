import { DatabaseSync } from "node:sqlite";
import type { ForeignClient } from "../services.ts";

/** The service's database, with its clients: in memory, for as long as the process lives. */
export const openStore = (clients: readonly ForeignClient[]): DatabaseSync => {
  const store = new DatabaseSync(":memory:");
  const expiring = "(value TEXT PRIMARY KEY, client_id TEXT NOT NULL, expires_at_ms INTEGER NOT NULL) STRICT";
  store.exec(`
    CREATE TABLE clients (id TEXT PRIMARY KEY, secret TEXT NOT NULL, redirect_uri TEXT NOT NULL) STRICT;
    CREATE TABLE codes ${expiring};
    CREATE TABLE access_tokens ${expiring};
    CREATE TABLE refresh_tokens ${expiring};
  `);
  const register = store.prepare("INSERT INTO clients (id, secret, redirect_uri) VALUES (?, ?, ?)");
  for (const { id, secret, redirectUri } of clients) register.run(id, secret, redirectUri);
  return store;
};
