import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { answerPage, pageHeaders } from "../../web/page.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import type { LiveEvent } from "./protocol.ts";

/** About an hour of a load with its heat maps; earlier events are in the report. */
const MOST_EVENTS = 20_000;
/** How long open pages have to fetch the report. */
const FAREWELL_MS = 3_000;

const fileOf = answerPage({
  name: "live",
  source: new URL(".", import.meta.url),
  script: "browser/live.tsx",
  built: "live-page",
});

/** Schedules a task; the returned function cancels it. */
type After = (ms: number, task: () => void) => () => void;

/** Serves the live page. It holds only what the record holds, so secrets are masked. */
export const serveLive = async ({ after }: { readonly after: After }) => {
  const events: string[] = [];
  const readers = new Set<ServerResponse>();
  let report: string | undefined;
  let fetched = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const port = (): number => (server.address() as AddressInfo).port;
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (request.url ?? "/").split("?")[0] ?? "/";
    // Another host name may be a foreign page's request (DNS rebinding).
    const isOwn = [`127.0.0.1:${port()}`, `localhost:${port()}`].includes(request.headers.host ?? "");
    if (!isOwn || request.method !== "GET") return void response.writeHead(403).end();
    if (path === "/events") return subscribe(response);
    if (path === "/report" && report !== undefined) {
      // The report has its own content security policy.
      response.writeHead(200, { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" });
      response.end(await readFile(report));
      fetched += 1;
      return;
    }
    const file = await fileOf(path);
    if (file === undefined) return void response.writeHead(404).end();
    response.writeHead(file.status, file.headers).end(file.body);
  };
  const subscribe = (response: ServerResponse): void => {
    response.writeHead(200, { ...pageHeaders, "content-type": "text/event-stream" });
    response.write(events.map(asMessage).join(""));
    readers.add(response);
    response.once("close", () => readers.delete(response));
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // The page must not keep a finished run alive.
  server.unref();
  const tell = (event: LiveEvent): void => {
    const text = JSON.stringify(event, shown);
    events.push(text);
    if (events.length > MOST_EVENTS) events.splice(0, events.length - MOST_EVENTS);
    for (const reader of readers) reader.write(asMessage(text));
  };
  return {
    url: `http://127.0.0.1:${port()}/`,
    tell,
    /** Turns the page into the report, waits until open pages have fetched it, and closes. */
    end: async (file: string | undefined): Promise<void> => {
      report = file;
      // A page closes its stream before it requests the report: without connections, only this keeps the
      // process waiting.
      server.ref();
      const wanted = readers.size;
      tell({ kind: "end", report: file !== undefined });
      if (wanted > 0 && file !== undefined) await untilFetched(server, after, () => fetched >= wanted);
      for (const reader of readers) reader.end();
      server.close();
      server.closeAllConnections();
    },
  };
};

/** What the page shows is escaped once, here: the stream may be read in a terminal, too. */
const shown = (_: string, value: unknown): unknown => (typeof value === "string" ? harmless(value) : value);

const asMessage = (text: string): string => `data: ${text}\n\n`;

const untilFetched = (server: Server, after: After, isDone: () => boolean): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const takeBack = after(FAREWELL_MS, resolve);
  server.on("request", (_, response: ServerResponse) => {
    response.once("close", () => isDone() && resolve());
  });
  return promise.finally(takeBack);
};
