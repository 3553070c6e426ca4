import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { ForeignClient } from "../services.ts";
import { createAdapter, createOAuth } from "./adapter.ts";
import { installClock } from "./clock.ts";
import { createModel } from "./model.ts";
import { createNotifications } from "./notifications.ts";
import { openStore } from "./store.ts";

/**
 * A third-party service: `@node-oauth/oauth2-server` behind the document's paths.
 *
 *   node main.ts CLIENTS_FILE
 *
 * CLIENTS_FILE is a JSON array of { id, secret, redirectUri }. Prints one line of JSON with the address once it
 * listens, and ends when its standard input does.
 */
const [, , clientsFile = ""] = process.argv;
const advance = installClock();
const store = openStore(JSON.parse(readFileSync(clientsFile, "utf8")) as ForeignClient[]);
const service = createAdapter(createOAuth(createModel(store)), createNotifications(), advance);
service.listen(0, "127.0.0.1", () => {
  const { port } = service.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.resume().once("end", () => {
  service.close();
  service.closeAllConnections();
  store.close();
});
