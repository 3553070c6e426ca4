import { request } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { listening } from "../../../conformance/testing/servers.ts";
import { runnerClock } from "../clock.ts";

/**
 * A narrow network between load generator and service: every request needs a new connection, and only so many per
 * second are let through. The others wait before their TLS handshake; then the service answers as fast as ever.
 */
export const startNarrowFront = async (
  target: string,
  {
    connectionsPerSecond,
    ...credentials
  }: { readonly connectionsPerSecond: number; readonly key: string; readonly cert: string },
): Promise<AsyncDisposable & { readonly baseUrl: string }> => {
  const front = createTlsServer(credentials, (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onward = request(
      new URL(path ?? "/", target),
      { method: method ?? "GET", headers: { ...headers, connection: "close" } },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: "close" });
        answer.pipe(outgoing);
      },
    );
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const waiting: Socket[] = [];
  const gate = await listening(
    createServer({ pauseOnConnect: true }, (socket) => {
      waiting.push(socket);
    }),
  );
  const closing = new AbortController();
  const turnstile = async (): Promise<void> => {
    while (!closing.signal.aborted) {
      await runnerClock.sleep(1_000 / connectionsPerSecond, closing.signal).catch(() => undefined);
      const next = waiting.shift();
      if (next?.destroyed !== false) continue;
      next.resume();
      front.emit("connection", next);
    }
  };
  const turning = turnstile();
  return {
    baseUrl: `https://127.0.0.1:${gate.port}`,
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await turning;
      await gate.stop();
    },
  };
};
