import type { StartOptions } from "../index.ts";
import { askControl, startTestService } from "./flow.ts";
import { listening } from "../../conformance/testing/servers.ts";
import http from "node:http";
import https from "node:https";
import type { Socket } from "node:net";

/** A push as it arrived, with the service's time of arrival. */
export interface Received {
  readonly id: string;
  readonly accountId: string;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
}

/** How a push is answered: a status, or direct use of the response. */
type Reaction = number | ((answer: http.ServerResponse, push: Received) => void);

interface TestReceiver {
  readonly url: string;
  readonly pushes: Received[];
  /** Decides on each push; acknowledges by default. */
  react: (push: Received, attempt: number) => Reaction;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

interface TestReceiverOptions {
  readonly nowMs?: () => number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

/** The fields of a body, if it is the expected JSON. */
const notificationIn = (body: string): Partial<Pick<Received, "id" | "accountId">> => {
  try {
    return JSON.parse(body) as Partial<Received>;
  } catch {
    return {};
  }
};

/** The smallest receiver for tests of the sender; users get a different one. */
export const startTestReceiver = async (options: TestReceiverOptions = {}): Promise<TestReceiver> => {
  const handle = async (request: http.IncomingMessage, answer: http.ServerResponse): Promise<void> => {
    let body = "";
    request.setEncoding("utf8");
    for await (const piece of request) body += String(piece);
    const { id = "", accountId = "" } = notificationIn(body);
    const push: Received = {
      id,
      accountId,
      atMs: options.nowMs?.() ?? 0,
      method: request.method ?? "",
      path: request.url ?? "",
      headers: request.headers,
      body,
      socket: request.socket,
    };
    receiver.pushes.push(push);
    const reaction = receiver.react(push, receiver.pushes.filter((other) => other.id === id).length);
    if (typeof reaction === "function") return reaction(answer, push);
    answer.writeHead(reaction, { "content-type": "application/json" });
    answer.end(JSON.stringify({ id, received: true }));
  };
  const listener = (request: http.IncomingMessage, answer: http.ServerResponse): void =>
    void handle(request, answer);
  const server =
    options.tls === undefined ? http.createServer(listener) : https.createServer(options.tls, listener);
  const { origin, stop } = await listening(server);
  const receiver: TestReceiver = {
    url: `${origin}/service/webhook`,
    pushes: [],
    react: () => 200,
    [Symbol.asyncDispose]: stop,
  };
  return receiver;
};

export type Pushing = Awaited<ReturnType<typeof startPushing>>;

const START_MS = 1_000_000;

/**
 * How many steps bring the clock to the next possible event, according to its last answer: idle steps are combined.
 * While pushes are in flight, every step counts.
 */
const stepsToNext = (
  { now, nextDue, inFlight }: Readonly<Record<string, unknown>>,
  stepMs: number,
): number => {
  if (inFlight !== 0 || typeof now !== "number") return 1;
  return typeof nextDue === "number"
    ? Math.max(1, Math.ceil((nextDue - now) / stepMs))
    : Number.POSITIVE_INFINITY;
};

/** A service with a receiver registered as its callback. */
export const startPushing = async (
  options: StartOptions & { readonly receiver?: TestReceiverOptions; readonly ca?: string } = {},
) => {
  const { receiver: receiverOptions, ca, ...rest } = options;
  let nowMs = rest.startTimeMs ?? START_MS;
  const receiver = await startTestReceiver({ ...receiverOptions, nowMs: () => nowMs });
  const service = await startTestService({ startTimeMs: START_MS, ...rest });
  const control = async (method: string, path: string, body?: unknown) =>
    (await askControl(service.controlUrl + path, method, body)).body;
  await control("PUT", "/callback", { url: receiver.url, ...(ca === undefined ? {} : { ca }) });
  const stop = async (): Promise<void> => {
    await service.stop();
    await receiver[Symbol.asyncDispose]();
  };
  return {
    ...service,
    receiver,
    control,
    pushesOf: (id: string) => receiver.pushes.filter((push) => push.id === id),
    /** Moves the clock in steps of a second, and returns the second of each push since the start. */
    secondsOfPushes: async (seconds: number, stepSeconds = 1) => {
      // Work in flight without any step belongs to the present moment.
      let reply = await service.advance(0);
      for (let left = Math.ceil(seconds / stepSeconds); left > 0;) {
        const steps = Math.min(left, stepsToNext(reply.fields, stepSeconds * 1_000));
        nowMs += steps * stepSeconds * 1_000;
        reply = await service.advance(steps * stepSeconds * 1_000);
        left -= steps;
      }
      return receiver.pushes.map(({ atMs }) => (atMs - START_MS) / 1_000);
    },
    [Symbol.asyncDispose]: stop,
  };
};
