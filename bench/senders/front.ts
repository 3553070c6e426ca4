import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdapter, createOAuth } from "../foreign/node/adapter.ts";
import { answerJson, readJson } from "../foreign/node/http.ts";
import { createModel } from "../foreign/node/model.ts";
import { createNotifications } from "../foreign/node/notifications.ts";
import { openStore } from "../foreign/node/store.ts";
import type { ForeignClient } from "../foreign/services.ts";

/**
 * The service in front of a job queue: OAuth and the list are those of the foreign service in Node, and each event
 * becomes a job of the queue.
 *
 *   node front.ts CLIENTS_FILE JOBS_URL
 *
 * Prints one line of JSON with its address, and ends when its standard input does.
 */
const [, , clientsFile = "", jobsUrl = ""] = process.argv;
const store = openStore(JSON.parse(readFileSync(clientsFile, "utf8")) as ForeignClient[]);
const notifications = createNotifications();
const adapter = createAdapter(createOAuth(createModel(store)), notifications, () => undefined);
let callback: string | undefined;

const trigger = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { accountId } = await readJson(request);
  const id = notifications.create(String(accountId));
  if (callback !== undefined) {
    const body = JSON.stringify(notifications.list(new URLSearchParams({ id }))?.data[0]);
    const headers = { "x-callback": callback };
    const { ok } = await fetch(jobsUrl, { method: "POST", headers, body });
    if (!ok) throw new Error("the queue took no job");
  }
  answerJson(response, 200, { id });
};

const register = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  callback = String((await readJson(request))["url"]);
  answerJson(response, 200, { url: callback });
};

const service = createServer((request, response) => {
  const route = { "/test/events": trigger, "/test/callback": register }[request.url ?? ""];
  if (route === undefined) adapter.emit("request", request, response);
  else void route(request, response).catch(() => answerJson(response, 500, { error: "server_error" }));
});
service.listen(0, "127.0.0.1", () => {
  const { port } = service.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ baseUrl: `http://127.0.0.1:${port}` })}\n`);
});
process.stdin.resume().once("end", () => process.exit());
