import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { FakeServer } from "../../fake-server/index.ts";

/** Other users of a fake, who write all the time. */
export interface Neighbours {
  /** How many notifications they have made so far. */
  readonly written: () => number;
  readonly stop: () => Promise<void>;
}

/** Makes notifications of the same client's for accounts of their own, one every so many milliseconds. */
export const startNeighbours = (server: FakeServer, everyMs: number): Promise<Neighbours> => {
  const accounts = [randomUUID(), randomUUID(), randomUUID()];
  const clientId = server.clients[0]?.id;
  let written = 0;
  const stopped = new AbortController();
  const writing = (async () => {
    while (!stopped.signal.aborted) {
      const accountId = accounts[written % accounts.length];
      const answer = await fetch(`${server.controlUrl}/events`, {
        method: "POST",
        // A kept connection may be closed by the other side in the very moment of its next use.
        headers: { "content-type": "application/json", connection: "close" },
        body: JSON.stringify({ accountId, clientId }),
      });
      if (!answer.ok) throw new Error(`the neighbours got status ${answer.status}`);
      written += 1;
      await delay(everyMs);
    }
  })();
  return Promise.resolve({
    written: () => written,
    stop: async () => {
      stopped.abort();
      await writing;
    },
  });
};
