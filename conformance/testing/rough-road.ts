import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** What a road to a service does to its traffic. */
export interface RoadConditions {
  /** Added to every request, in milliseconds; drawn anew for each where it is a function. */
  readonly latencyMs: number | (() => number);
  /** Share of the requests whose connection is dropped before anything is passed on. */
  readonly dropShare: number;
  /** Share of the requests that are answered with 429 and Retry-After. */
  readonly throttleShare: number;
  /** Number of requests after which nothing is served for a while, once; never where left out. */
  readonly restartAfter?: number;
  readonly restartMs?: number;
  /** Of what kind they have to be to count for that; of any where left out. */
  readonly restartOn?: "GET";
}

/** What the road did, for tests to see that it did it. */
export interface RoadCounts {
  passed: number;
  dropped: number;
  throttled: number;
  restarts: number;
}

export interface Road {
  readonly url: string;
  readonly counts: RoadCounts;
  readonly stop: () => Promise<void>;
}

/** A proxy before a service that behaves as networks and gateways do; `random` gives numbers from 0 to below 1. */
export const startRoad = async (
  origin: string,
  conditions: RoadConditions,
  random: () => number,
): Promise<Road> => {
  const counts: RoadCounts = { passed: 0, dropped: 0, throttled: 0, restarts: 0 };
  const {
    latencyMs,
    dropShare,
    throttleShare,
    restartAfter = Infinity,
    restartMs = 1_500,
    restartOn,
  } = conditions;
  let seen = 0;
  let server: Server | undefined;
  let port = 0;
  const onRequest = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (restartOn === undefined || incoming.method === restartOn) seen += 1;
    if (seen === restartAfter && counts.restarts === 0) void restart();
    const fate = random();
    await delay(typeof latencyMs === "number" ? latencyMs : latencyMs());
    if (fate < dropShare) {
      counts.dropped += 1;
      incoming.socket.destroy();
    } else if (fate < dropShare + throttleShare) {
      counts.throttled += 1;
      incoming.resume();
      outgoing.writeHead(429, { "retry-after": "1" }).end();
    } else {
      counts.passed += 1;
      pass(origin, incoming, outgoing);
    }
  };
  const open = async (): Promise<void> => {
    const opened = createServer((incoming, outgoing) => void onRequest(incoming, outgoing));
    await new Promise<void>((resolve) => opened.listen(port, "127.0.0.1", resolve));
    port = (opened.address() as AddressInfo).port;
    server = opened;
  };
  const close = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    closing?.closeAllConnections();
    await new Promise<void>((resolve) =>
      closing === undefined ? resolve() : closing.close(() => resolve()),
    );
  };
  const restart = async (): Promise<void> => {
    counts.restarts += 1;
    await close();
    await delay(restartMs);
    await open();
  };
  await open();
  return { url: `http://127.0.0.1:${port}`, counts, stop: close };
};

const pass = (origin: string, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  const onward = request(
    new URL(origin),
    { method: incoming.method, path: incoming.url, headers: incoming.headers },
    (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(outgoing);
    },
  );
  onward.on("error", () => outgoing.destroy());
  outgoing.on("close", () => onward.destroy());
  incoming.pipe(onward);
};
