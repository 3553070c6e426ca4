import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { RunnerClock } from "../clock.ts";

/** A port of loopback that is free at this moment. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

const TRY_AGAIN_MS = 100;
const STOPS = "\nevent: stop\n";

/**
 * Reads the events of k6's dashboard, and resolves with true once they say that the load has ended: other outputs have
 * ended before, and k6 waits until the last browser has left. False if k6 ended without saying so.
 */
export const dashboardStops = async (
  address: string,
  {
    clock,
    signal,
    onUp,
  }: { readonly clock: RunnerClock; readonly signal: AbortSignal; readonly onUp: () => void },
): Promise<boolean> => {
  try {
    const events = await eventsOf(address, clock, signal);
    onUp();
    let text = "";
    for await (const part of events.pipeThrough(new TextDecoderStream())) {
      text = text.slice(-STOPS.length) + part;
      if (text.includes(STOPS)) return true;
    }
  } catch {
    // The connection ends with k6.
  }
  return false;
};

/** Rejects when the signal aborts. */
const eventsOf = async (address: string, clock: RunnerClock, signal: AbortSignal) => {
  for (;;) {
    const answer = await fetch(`${address}events`, { signal }).catch(() => undefined);
    if (answer?.body) return answer.body;
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
};
