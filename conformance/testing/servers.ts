import http from "node:http";
import net, { type AddressInfo } from "node:net";
import tls from "node:tls";

/** A server created in a test, and how to reach and stop it. */
export interface TestServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Closes it with all its connections. */
  readonly stop: () => Promise<void>;
}

/** Listens on this port of loopback, or on a free one. */
export const listening = async (server: net.Server, at = 0): Promise<TestServer> => {
  const sockets = new Set<net.Socket>();
  server.on("connection", (socket: net.Socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  const scheme = server instanceof tls.Server ? "https" : "http";
  return { origin: `${scheme}://127.0.0.1:${port}`, port, stop, [Symbol.asyncDispose]: stop };
};

/** A server that answers once it has read the whole body. */
export const serveHttp = (
  handle: (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void,
): Promise<TestServer> =>
  listening(
    http.createServer((request, response) => {
      let body = "";
      request.setEncoding("utf8");
      request.on("data", (chunk: string) => (body += chunk));
      request.on("end", () => handle(request, response, body));
    }),
  );

/** A server whose answers never end, and how much it has sent. */
export const serveEndless = async (): Promise<TestServer & { readonly sentBytes: () => number }> => {
  let sent = 0;
  const server = await serveHttp((_, response) => {
    const chunk = Buffer.alloc(256 * 1024, "x");
    const pour = (): void => {
      let hasRoom = true;
      while (hasRoom && !response.destroyed) {
        sent += chunk.length;
        hasRoom = response.write(chunk);
      }
      response.once("drain", pour);
    };
    pour();
  });
  return { ...server, sentBytes: () => sent };
};

export const serveTcp = (handle: (socket: net.Socket) => void): Promise<TestServer> =>
  listening(net.createServer(handle));

/** Passes a request on as it is, as a proxy does, and its answer back. */
export const passOn = (
  origin: string,
  incoming: http.IncomingMessage,
  outgoing: http.ServerResponse,
  path = incoming.url,
): void => {
  const { method, headers } = incoming;
  // A new connection per request: a kept one may be closed just when it is used again.
  const onward = http.request(new URL(origin), { agent: false, method, path, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(outgoing);
  });
  onward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
};

/** A service behind a page that asks the user first. */
export const serveConsentPage = (origin: () => string): Promise<TestServer> =>
  listening(
    http.createServer((request, response) => {
      if (request.url?.startsWith("/open-api/oauth/authorize") === true)
        response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><p>May they?</p>");
      else passOn(origin(), request, response);
    }),
  );

/** Whether anything answers there, with any status. */
export const isAnswering = (address: string): Promise<boolean> =>
  fetch(address).then(
    () => true,
    () => false,
  );

/** Sends JSON; throws unless it is taken. */
export const sendJson = async (url: string, method: string, body: unknown): Promise<void> => {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
};

/** An address of this machine at which nothing listens. */
export const deadOrigin = async (): Promise<string> => {
  const { origin, stop } = await serveTcp(() => {});
  await stop();
  return origin;
};

/** A port that is currently free. */
export const freePort = async (): Promise<number> => Number(new URL(await deadOrigin()).port);
