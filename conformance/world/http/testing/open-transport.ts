import { serveTcp, type TestServer } from "../../../testing/servers.ts";
import { stopAfterEach } from "../../../testing/stopping.ts";
import { given } from "../../../contract/given.ts";
import type { Clock, RealTime } from "../../clock.ts";
import { TransportError, type Request } from "../../exchange.ts";
import { createJournal, newScope } from "../../evidence/journal.ts";
import { createSecrets } from "../../../contract/secrets.ts";
import { createRetries } from "../retry.ts";
import { createTransport, type Sender, type Transport } from "../transport.ts";
import { errorOf } from "../../../testing/errors.ts";

export const stopping = stopAfterEach();

/** A clock that records sleeps and takes no time. */
export const noted = (kind: Clock["kind"] = "virtual", mostMs = Infinity) => {
  const slept: number[] = [];
  const clock: Sender["clock"] = {
    kind,
    isTold: false,
    now: () => Promise.resolve({ earliestMs: 0, latestMs: 0 }),
    canWaitAsAsked: (durationMs) => durationMs <= mostMs,
    sleepAsAsked: (durationMs) => Promise.resolve(void slept.push(durationMs)),
  };
  return { clock, slept };
};

export const open = async (
  origin: string,
  timeoutMs = 60_000,
  time?: RealTime,
): Promise<{ transport: Transport; sender: Sender; stop: () => Promise<void> }> => {
  const transport = createTransport({
    origin,
    journal: createJournal(createSecrets()),
    timeoutMs,
    maxConnections: 4,
    retries: createRetries(given({ time })),
  });
  const opened = {
    transport,
    sender: { scope: newScope("code.single-use"), clock: noted().clock },
    stop: () => transport.close(),
  };
  return stopping(Promise.resolve(opened));
};

export const openTo = async (server: Promise<TestServer>, timeoutMs?: number) =>
  open((await stopping(server)).origin, timeoutMs);

export const get = (path: string, headers: Request["headers"] = []): Request => ({
  method: "GET",
  path,
  headers,
});

export const problemOf = (sent: Promise<unknown>) => errorOf(sent, TransportError);

/** Answers every request on a connection with these bytes. */
export const replying = (bytes: string, seen: string[] = []) =>
  serveTcp((socket) =>
    socket.on("data", (chunk) => {
      seen.push(chunk.toString("latin1"));
      socket.write(bytes);
    }),
  );

export const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
