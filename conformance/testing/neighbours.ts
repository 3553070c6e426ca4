import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";
import type { FakeServer } from "../../fake-server/index.ts";

/**
 * Other users of a fake, who are always writing: they create notifications of the same client for accounts of their
 * own, one per interval.
 */
export const startNeighbours = (server: FakeServer, everyMs: number) => {
  const accounts = [randomUUID(), randomUUID(), randomUUID()];
  const clientId = server.clients[0]?.id;
  let written = 0;
  const stopped = new AbortController();
  // A new connection per request: a kept one may be closed just when it is used again.
  const dispatcher = new Agent({ pipelining: 0 });
  const writing = (async () => {
    while (!stopped.signal.aborted) {
      const accountId = accounts[written % accounts.length];
      const { statusCode, body } = await request(`${server.controlUrl}/events`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ accountId, clientId }),
        dispatcher,
      });
      await body.dump();
      if (statusCode !== 200 && statusCode !== 201)
        throw new Error(`the neighbours got status ${statusCode}`);
      written += 1;
      await delay(everyMs);
    }
  })();
  return {
    /** How many notifications they have created so far. */
    written: () => written,
    stop: async () => {
      stopped.abort();
      await writing;
      await dispatcher.close();
    },
  };
};
