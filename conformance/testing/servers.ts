import http from "node:http";
import net, { type AddressInfo } from "node:net";

/** A server created in a test, and how to reach and stop it. */
export interface TestServer {
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

const listening = async (server: net.Server, closeAll: () => void): Promise<TestServer> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        closeAll();
      }),
  };
};

export const serveHttp = (
  handle: (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void,
): Promise<TestServer> => {
  const server = http.createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => (body += chunk));
    request.on("end", () => handle(request, response, body));
  });
  return listening(server, () => server.closeAllConnections());
};

export const serveTcp = (handle: (socket: net.Socket) => void): Promise<TestServer> => {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    handle(socket);
  });
  return listening(server, () => {
    for (const socket of sockets) socket.destroy();
  });
};

/** An address of this machine at which nothing listens. */
export const deadOrigin = async (): Promise<string> => {
  const { origin, stop } = await serveTcp(() => {});
  await stop();
  return origin;
};

/** A port that is currently free. */
export const freePort = async (): Promise<number> => {
  const { origin, stop } = await serveTcp(() => {});
  await stop();
  return Number(new URL(origin).port);
};
