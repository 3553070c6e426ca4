import type net from "node:net";
import { endpoints } from "../contract/forms.ts";
import { TransportError, type Answer, type Request } from "./exchange.ts";
import type { Scope } from "./evidence/journal.ts";
import { createDialer } from "./http/dialer.ts";
import { parseRawAnswer } from "./http/raw-answer.ts";
import type { TargetOptions } from "./target.ts";
import type { PatientClock } from "./http/throttling.ts";
import type { TransportOptions } from "./http/transport.ts";
import { afterAll, MAX_ANSWER_BYTES } from "./http/receive.ts";
import { parseJson } from "../contract/json.ts";
import { sendToTarget, slowLimitMs, type TargetAddress } from "./http/send.ts";

export interface RawAnswer {
  /** The first answer; undefined if there was none. */
  readonly answer: Answer | undefined;
  /** `answered`: a status line and complete headers arrived, whatever happened to the body. */
  readonly outcome: "answered" | Conversation["end"];
}

/** A request below the base address whose parts are sent unchanged, as Latin-1: one byte per character. */
export type RawRequest = Omit<Request, "headers"> & Partial<Pick<Request, "headers">>;

/** Sends what no HTTP client would send, each request on its own connection. */
export type RawTarget = ReturnType<typeof createRawTarget>;

export interface RawTargetOptions
  extends
    Pick<TargetOptions, "basePath" | "headers" | "authorize">,
    Pick<TransportOptions, "origin" | "journal" | "timeoutMs" | "dialer" | "onAnswer"> {
  readonly scope: Scope;
  /** The clock on which rate limiters are waited out. */
  readonly clock: PatientClock;
  readonly address: TargetAddress;
}

const json = ["content-type", "application/json"] as const;

/**
 * Raw requests to one service over TCP or TLS, each on its own connection. Nothing the peer does throws. Resends
 * requests that were not accepted, and GET requests whose connection was closed; what still has no answer is recorded
 * as a loss of its case.
 */
export const createRawTarget = (options: RawTargetOptions) => {
  const origin = new URL(options.origin);
  /** Adds Host, Connection: close, the profile's headers and, with a body, Content-Length. */
  const request = ({ method, path, headers = [], body }: RawRequest): Promise<RawAnswer> =>
    sendUntilAnswered(options, origin, {
      method,
      path: `${options.basePath}${path}`,
      headers: [
        ["Host", origin.host],
        ["Connection", "close"],
        ...(body === undefined ? [] : [["Content-Length", String(body.length)] as const]),
        ...options.headers,
        ...headers,
      ],
      ...(body === undefined || body === "" ? {} : { body }),
    });
  return {
    /** The path of the base address, which precedes that of every request. */
    basePath: options.basePath,
    request,
    /** GET /open-api/oauth/authorize with this raw query and the profile's additions to get past consent. */
    authorize: (rawQuery: string): Promise<RawAnswer> => {
      const { query, headers } = options.authorize;
      return request({
        method: "GET",
        path: `${endpoints.authorize.path}?${rawQuery}${query === "" ? "" : `&${query}`}`,
        headers: [json, ...headers],
      });
    },
  };
};

const sendUntilAnswered = async (
  options: RawTargetOptions,
  origin: URL,
  request: Request,
): Promise<RawAnswer> => {
  const { address, clock, scope } = options;
  try {
    const { losses } = scope;
    const answer = await sendToTarget(address, request, { losses, clock }, () =>
      sendOnce(options, origin, request),
    );
    return { answer, outcome: "answered" };
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    const { reason } = error;
    // A request that is turned away repeatedly has got no answer and, above all, no refusal.
    return { answer: undefined, outcome: reason === "closed" || reason === "refused" ? reason : "timeout" };
  }
};

const sendOnce = async (options: RawTargetOptions, origin: URL, request: Request): Promise<Answer> => {
  const exchange = options.journal.begin(options.scope);
  const { method, path, headers, body = "" } = request;
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const bytes = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines}\r\n${body}`, "latin1");
  const { received, end } = await converse(options, origin, bytes, method);
  const parsed = parseRawAnswer(received, method, end === "closed");
  if (parsed === undefined) {
    exchange.end(request, { error: `no answer (${end})` });
    throw new TransportError(exchange.n, end, end);
  }
  const { status, headers: answered, text } = parsed;
  const answer = { status, headers: answered, text, json: parseJson(text) };
  options.onAnswer?.(request, answer);
  exchange.end(request, { answer });
  return { exchange: exchange.n, ...answer };
};

interface Conversation {
  readonly received: Buffer;
  readonly end: "closed" | "timeout" | "refused";
}

const plain = createDialer();

/** Sends everything and reads until the answer is complete or nothing more can come. */
const converse = async (
  { dialer = plain, timeoutMs, address }: RawTargetOptions,
  origin: URL,
  bytes: Buffer,
  method: string,
): Promise<Conversation> => {
  let tunnel: net.Socket | undefined;
  try {
    // Awaited only if there is one: a plain socket needs its listeners before it can fail.
    const opening = dialer.tunnel(origin, timeoutMs);
    if (opening !== undefined) tunnel = await opening;
  } catch {
    return { received: Buffer.alloc(0), end: "refused" };
  }
  return new Promise((resolve) => {
    let received: Buffer = Buffer.alloc(0);
    let connected = false;
    const { socket, event } = dialer.open(origin, tunnel);
    const finish = (end: Conversation["end"]): void => {
      deadline.cancel();
      socket.destroy();
      resolve({ received, end });
    };
    const limits = { timeoutMs, slowLimitMs: () => slowLimitMs(address, timeoutMs) };
    const deadline = afterAll(limits, () => finish("timeout"));
    const write = (): void => {
      connected = true;
      socket.write(bytes);
    };
    if (event === undefined) write();
    else socket.once(event, write);
    socket.on("data", (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      if (received.length > MAX_ANSWER_BYTES || parseRawAnswer(received, method, false)?.whole === true)
        finish("closed");
    });
    // A reset after (or instead of) an answer ends the conversation like any other close.
    socket.once("error", () => finish(connected ? "closed" : "refused"));
    socket.once("close", () => finish("closed"));
  });
};
