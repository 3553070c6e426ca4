import type net from "node:net";
import { endpoints } from "../contract/forms.ts";
import { after } from "./clock.ts";
import { TransportError, type Answer, type Request } from "./exchange.ts";
import type { Scope } from "./evidence/journal.ts";
import { createDialer } from "./http/dialer.ts";
import { parseRawAnswer } from "./http/raw-answer.ts";
import type { TargetOptions } from "./target.ts";
import type { PatientClock } from "./http/throttling.ts";
import type { TransportOptions } from "./http/transport.ts";
import { MAX_ANSWER_BYTES } from "./http/receive.ts";
import { parseJson } from "../contract/json.ts";
import { sendToTarget, type TargetAddress } from "./http/send.ts";

export interface RawAnswer {
  readonly exchange: number;
  /** Status of the first answer; undefined if there was none. */
  readonly status: number | undefined;
  readonly headers: Answer["headers"];
  readonly text: string;
  /** `answered`: a status line and complete headers arrived, whatever happened to the body. */
  readonly outcome: "answered" | "closed" | "timeout" | "refused";
}

/** The raw answer as an ordinary one; undefined if the peer gave none. */
export const answerOf = (raw: RawAnswer): Answer | undefined =>
  raw.status === undefined
    ? undefined
    : {
        exchange: raw.exchange,
        status: raw.status,
        headers: raw.headers,
        text: raw.text,
        json: parseJson(raw.text),
      };

/** A request whose parts are sent unchanged; strings as Latin-1, one byte per character. */
export interface RawRequest {
  readonly method: string;
  /** Path and query below the base address. */
  readonly path: string | Uint8Array;
  readonly headers?: Request["headers"];
  readonly body?: string | Uint8Array;
}

/** Sends raw bytes, for requests that no HTTP client would send. */
export interface RawTarget {
  /** Sends these bytes on a new connection and reads until the answer is complete, the peer closes, or the time is up. */
  send(bytes: Uint8Array | string): Promise<RawAnswer>;
  /** A request below the base address. Adds Host, Connection: close, the profile's headers and, with a body, Content-Length. */
  request(request: RawRequest): Promise<RawAnswer>;
  /** A GET below the base address, with the documented Content-Type unless other headers are given. */
  get(pathAndQuery: string | Uint8Array, headers?: Request["headers"]): Promise<RawAnswer>;
  /** GET /open-api/oauth/authorize with this raw query and the profile's additions to get past consent. */
  authorize(rawQuery: string | Uint8Array): Promise<RawAnswer>;
}

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
export const createRawTarget = (options: RawTargetOptions): RawTarget => {
  const origin = new URL(options.origin);
  const send: RawTarget["send"] = (bytes) => sendUntilAnswered(options, origin, bytesOf(bytes));

  const request: RawTarget["request"] = ({ method, path, headers = [], body }) => {
    const content = body === undefined ? undefined : bytesOf(body);
    const lines = [
      ["Host", origin.host],
      ["Connection", "close"],
      ...(content === undefined ? [] : [["Content-Length", String(content.length)]]),
      ...options.headers,
      ...headers,
    ].map(([name, value]) => `${name}: ${value}\r\n`);
    return send(
      Buffer.concat([
        bytesOf(`${method} ${options.basePath}`),
        bytesOf(path),
        bytesOf(` HTTP/1.1\r\n${lines.join("")}\r\n`),
        content ?? Buffer.alloc(0),
      ]),
    );
  };

  return {
    send,
    request,
    get: (path, headers = [json]) => request({ method: "GET", path, headers }),
    authorize: (rawQuery) =>
      request({
        method: "GET",
        path: Buffer.concat([
          bytesOf(`${endpoints.authorize.path}?`),
          bytesOf(rawQuery),
          bytesOf(options.authorize.query === "" ? "" : `&${options.authorize.query}`),
        ]),
        headers: [json, ...options.authorize.headers],
      }),
  };
};

const sendUntilAnswered = async (
  options: RawTargetOptions,
  origin: URL,
  bytes: Buffer,
): Promise<RawAnswer> => {
  const { losses } = options.scope;
  const request = readRequest(bytes);
  const name = losses.begin(request);
  let raw: RawAnswer | undefined;
  const send = async (): Promise<Answer> => {
    raw = await sendOnce(options, origin, bytes);
    const answer = answerOf(raw);
    if (answer === undefined) throw new TransportError(raw.exchange, reasonOf(raw), raw.outcome);
    return answer;
  };
  try {
    await sendToTarget(options.address, request, options.clock, send);
  } catch (error) {
    if (!(error instanceof TransportError) || raw === undefined) throw error;
    // A request that is turned away repeatedly has got no answer and, above all, no refusal.
    if (raw.outcome === "answered") raw = { ...raw, status: undefined, outcome: "timeout" };
    const reason = error.reason === "throttled" ? error.reason : reasonOf(raw);
    losses.note(name, { exchange: raw.exchange, reason, isNeverAnswered: error.isNeverAnswered === true });
  }
  if (raw === undefined) throw new Error("a raw request must end");
  return raw;
};

const bytesOf = (value: string | Uint8Array): Buffer =>
  typeof value === "string" ? Buffer.from(value, "latin1") : Buffer.from(value);

const reasonOf = ({ outcome }: RawAnswer): TransportError["reason"] =>
  outcome === "answered" ? "closed" : outcome;

const sendOnce = async (options: RawTargetOptions, origin: URL, bytes: Buffer): Promise<RawAnswer> => {
  const exchange = options.journal.begin(options.scope);
  const request = readRequest(bytes);
  const { received, end } = await converse(options, origin, bytes, request.method);
  const parsed = parseRawAnswer(received, request.method, end === "closed");
  if (parsed === undefined) {
    exchange.end(request, { error: `no answer (${end})` });
    return { exchange: exchange.n, status: undefined, headers: [], text: "", outcome: end };
  }
  const answer = { ...parsed, json: parseJson(parsed.text) };
  options.onAnswer?.(request, answer);
  exchange.end(request, { answer });
  return { exchange: exchange.n, ...parsed, outcome: "answered" };
};

interface Conversation {
  readonly received: Buffer;
  readonly end: "closed" | "timeout" | "refused";
}

const plain = createDialer();

/** Sends everything and reads until the answer is complete or nothing more can come. */
const converse = async (
  { dialer = plain, timeoutMs }: RawTargetOptions,
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
    const finish = (end: "closed" | "timeout" | "refused"): void => {
      deadline.cancel();
      socket.destroy();
      resolve({ received, end });
    };
    const deadline = after(timeoutMs, () => finish("timeout"));
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

/** The bytes as a displayable request: parsed as far as they look like one, the rest as its body. */
const readRequest = (bytes: Buffer): Request => {
  const text = bytes.toString("latin1");
  const headEnd = text.indexOf("\r\n\r\n");
  const [start = "", ...lines] = text.slice(0, headEnd < 0 ? undefined : headEnd).split("\r\n");
  const [, method, path] = /^(\S+) (.*) HTTP\/\d\.\d$/s.exec(start) ?? [];
  if (headEnd < 0 || method === undefined || path === undefined)
    return { method: "RAW", path: "", headers: [], body: text };
  const body = text.slice(headEnd + 4);
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { method, path, headers, ...(body === "" ? {} : { body }) };
};
