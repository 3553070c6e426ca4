import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { finished, pipeline } from "node:stream/promises";
import { setTimeout as delay } from "node:timers/promises";
import { listening, passOn } from "./servers.ts";
import { randomUUID } from "node:crypto";
import { Agent, request as requestBy } from "undici";
import type { FakeServer } from "../../fake-server/index.ts";
import net from "node:net";
import tls from "node:tls";

/** What a bad network does to the traffic to a service. */
export interface ProxyConditions {
  /** Added to every request, in milliseconds; a function draws it for each. */
  readonly latencyMs: number | (() => number);
  /** For each kind of request (method and path), every nth one is dropped with its connection and not passed on. */
  readonly dropEvery?: number;
  /**
   * Of each kind of POST, every nth one is answered with 502 or 504 in turn, in place of the service; the service got the
   * second of two.
   */
  readonly hideEvery?: number;
  /** The status of these answers instead. */
  readonly hideWith?: number;
  /** Requests whose answers are hidden so each time, and which the service does not get. */
  readonly hideAlways?: (incoming: IncomingMessage) => boolean;
  /** Every nth request of any kind is answered with 429 and Retry-After, unless it is dropped. */
  readonly throttleEvery?: number;
  /** Number of requests after which nothing is served for a while, once; default: never. */
  readonly restartAfter?: number;
  readonly restartMs?: number;
  /** The kind of requests that count for that; default: any. */
  readonly restartOn?: "GET";
}

/** Interval at which the proxy checks if its outage is over, in milliseconds. */
const AWAY_STEP_MS = 20;

/** Passes a request on and drops its answer. */
export const passOnInVain = async (origin: string, incoming: IncomingMessage): Promise<void> => {
  const { method, url: path, headers } = incoming;
  const onward = request(new URL(origin), { agent: false, method, path, headers });
  await pipeline(incoming, onward);
  const [answer] = (await once(onward, "response")) as [IncomingMessage];
  await finished(answer.resume());
};

/**
 * A proxy in front of a service that behaves like networks and gateways do. The fate of a request depends on the number
 * of earlier ones, so that each fate certainly occurs in a run that is long enough.
 */
export const startFaultyProxy = async (origin: string, conditions: ProxyConditions) => {
  // What it did, so that tests can check that it did.
  const counts = { passed: 0, dropped: 0, hidden: 0, throttled: 0, restarts: 0 };
  const {
    latencyMs,
    dropEvery = Infinity,
    hideEvery = Infinity,
    hideWith,
    hideAlways = () => false,
    throttleEvery = Infinity,
    restartAfter = Infinity,
    restartMs = 1_500,
    restartOn,
  } = conditions;
  let seen = 0;
  let arrived = 0;
  const ofKind = new Map<string, number>();
  const fateOf = (incoming: IncomingMessage): "passed" | "dropped" | "hidden" | "throttled" => {
    const { method, url = "" } = incoming;
    const kind = `${method} ${url.split("?")[0]}`;
    const nth = (ofKind.get(kind) ?? 0) + 1;
    ofKind.set(kind, nth);
    arrived += 1;
    if (nth % dropEvery === 0) return "dropped";
    if (hideAlways(incoming) || (method === "POST" && nth % hideEvery === 0)) return "hidden";
    return arrived % throttleEvery === 0 ? "throttled" : "passed";
  };
  const onRequest = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    if (restartOn === undefined || incoming.method === restartOn) seen += 1;
    if (seen === restartAfter && counts.restarts === 0) void restart();
    const fate = fateOf(incoming);
    counts[fate] += 1;
    await delay(typeof latencyMs === "number" ? latencyMs : latencyMs());
    if (fate === "dropped") {
      incoming.socket.destroy();
    } else if (fate === "hidden") {
      const isDone = counts.hidden % 2 === 0 && !hideAlways(incoming);
      if (isDone) await passOnInVain(origin, incoming);
      else incoming.resume();
      outgoing
        .writeHead(hideWith ?? (isDone ? 504 : 502), { "content-type": "text/html" })
        .end("<h1>Bad Gateway</h1>");
    } else if (fate === "throttled") {
      incoming.resume();
      outgoing.writeHead(429, { "retry-after": "1" }).end();
    } else {
      passOn(origin, incoming, outgoing);
    }
  };
  const open = (port?: number) =>
    listening(
      createServer((incoming, outgoing) => void onRequest(incoming, outgoing)),
      port,
    );
  const restart = async (): Promise<void> => {
    counts.restarts += 1;
    await server.stop();
    // In steps, so that others still find it away after a stall of this process.
    for (let step = 0; step * AWAY_STEP_MS < restartMs; step += 1) await delay(AWAY_STEP_MS);
    server = await open(server.port);
  };
  let server = await open();
  return { url: server.origin, counts, stop: () => server.stop() };
};
export type FaultyProxy = Awaited<ReturnType<typeof startFaultyProxy>>;

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
      const { statusCode, body } = await requestBy(`${server.controlUrl}/events`, {
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

/** What a load balancer's health check does. */
type ProbeKind = "connects" | "resets" | "shakes hands" | "speaks no TLS";

/** All kinds, with the most common one most often. */
export const probeKinds: readonly ProbeKind[] = [
  "connects",
  "connects",
  "resets",
  "shakes hands",
  "speaks no TLS",
];

/** Probes a port of this machine at this interval, in each of these ways in turn, until stopped. */
export const startProber = (port: number, periodMs: number, kinds: readonly ProbeKind[]) => {
  let probes = 0;
  const timer = setInterval(() => {
    const kind = kinds[probes % kinds.length] ?? "connects";
    probes += 1;
    const socket: net.Socket =
      kind === "shakes hands"
        ? tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false }, () => socket.end())
        : net.connect(port, "127.0.0.1", () => {
            if (kind === "resets") socket.resetAndDestroy();
            else socket.end(kind === "speaks no TLS" ? "GET /healthz HTTP/1.1\r\n\r\n" : "");
          });
    // At times nothing listens, because the push run closes the receiver.
    socket.on("error", () => undefined);
    socket.resume();
  }, periodMs);
  return {
    probes: () => probes,
    stop: () => {
      clearInterval(timer);
      return Promise.resolve();
    },
  };
};
