import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { createAdapter, createOAuth } from "./adapter.ts";
import { installClock } from "./clock.ts";
import { createControl } from "./control.ts";
import { listen } from "./http.ts";
import { createModel } from "./model.ts";
import { createNotifications } from "./notifications.ts";
import { openStore, registerClient, type RegisteredClient } from "./store.ts";

/**
 * A third-party service: `@node-oauth/oauth2-server` behind the document's paths.
 *
 *   node main.ts [--port N] [--control-port N] [--store FILE] [--clients FILE]
 *
 * The clients file is a JSON array of { id, secret, redirectUri }; without one, clients are generated for this process
 * and printed. Prints one line of JSON once it listens, and ends on SIGTERM or SIGINT.
 */
const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    "control-port": { type: "string", default: "0" },
    store: { type: "string" },
    clients: { type: "string" },
  },
});

const madeUp = (redirectUri: string): RegisteredClient => ({
  id: randomBytes(8).toString("hex"),
  secret: randomBytes(24).toString("base64url"),
  redirectUri,
});

const clock = installClock();
const folder = values.store === undefined ? mkdtempSync(path.join(tmpdir(), "foreign-service-")) : undefined;
const store = openStore(values.store ?? path.join(folder ?? "", "store.sqlite"));
const clients =
  values.clients === undefined
    ? [madeUp("https://one.example/callback"), madeUp("https://two.example:8443/back?tenant=2")]
    : (JSON.parse(readFileSync(values.clients, "utf8")) as readonly RegisteredClient[]);
for (const client of clients) registerClient(store, client);

const notifications = createNotifications(store);
const service = createAdapter(createOAuth(createModel(store)), notifications);
const control = createControl(clock, notifications);
const addresses = {
  baseUrl: await listen(service, Number(values.port)),
  controlUrl: await listen(control, Number(values["control-port"])),
};
process.stdout.write(
  `${JSON.stringify(values.clients === undefined ? { ...addresses, clients } : addresses)}\n`,
);

const stop = (): void => {
  for (const server of [service, control]) {
    server.close();
    server.closeAllConnections();
  }
  store.close();
  if (folder !== undefined) rmSync(folder, { recursive: true });
};
process.once("SIGTERM", stop).once("SIGINT", stop);
