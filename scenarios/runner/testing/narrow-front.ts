import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { listening } from "../../../conformance/testing/servers.ts";
import { runnerClock } from "../clock.ts";

/**
 * A service of one worker: requests wait for their turn, and only so many per second are handled, however many come.
 */
export const startNarrowFront = async (
  target: string,
  requestsPerSecond: number,
): Promise<AsyncDisposable & { readonly baseUrl: string }> => {
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const { method = "GET", url = "/", headers } = incoming;
    const onward = request(new URL(url, target), { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  };
  let freeAtMs = 0;
  const front = await listening(
    createServer((incoming, outgoing) => {
      const nowMs = runnerClock.nowMs();
      freeAtMs = Math.max(nowMs, freeAtMs) + 1_000 / requestsPerSecond;
      runnerClock.after(freeAtMs - nowMs, () => pass(incoming, outgoing));
    }),
  );
  return { baseUrl: `http://127.0.0.1:${front.port}`, [Symbol.asyncDispose]: front.stop };
};
