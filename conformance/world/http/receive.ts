import { errors, type Dispatcher } from "undici";
import { errorMessage } from "../../contract/text.ts";
import { after } from "../clock.ts";
import type { Answer, Request, TransportError } from "../exchange.ts";
import { codeOf } from "../../contract/files.ts";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";

/** Answers are not read beyond this. */
export const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

export interface Received {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly text: string;
}

export interface ReceiveLimits {
  /** Time limit of the exchange from the moment the request is sent, in milliseconds; there is no other. */
  readonly timeoutMs: number;
  /** Asked once that is over: the time limit now, in milliseconds, if answers have become slower meanwhile. */
  readonly slowLimitMs?: (() => number) | undefined;
  readonly mostBytes?: number;
  /** Ends it at once. */
  readonly signal?: AbortSignal;
}

/** Sends one request and reads its complete answer. `origin` selects the address if the dispatcher serves several. */
export const receive = (
  dispatcher: Dispatcher,
  request: Request & { readonly origin?: string },
  { mostBytes = MAX_ANSWER_BYTES, signal, ...limits }: ReceiveLimits,
): Promise<Received> =>
  new Promise((resolve, reject) => {
    let status = 0;
    let headers: Answer["headers"] = [];
    let size = 0;
    const chunks: Buffer[] = [];
    let limit: ReturnType<typeof after> | undefined;
    let started: Dispatcher.DispatchController | undefined;
    const stop = (): void => {
      const error = interruption(signal);
      if (started === undefined) reject(error);
      else started.abort(error);
    };
    const end = (): void => {
      limit?.cancel();
      signal?.removeEventListener("abort", stop);
    };
    signal?.addEventListener("abort", stop, { once: true });
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => {
        started = controller;
        if (signal?.aborted === true) return stop();
        limit = afterAll(limits, (limitMs) => controller.abort(timeoutOf(limitMs, size, headers)));
      },
      onResponseStart: (controller, statusCode) => {
        status = statusCode;
        headers = pairsOf(controller.rawHeaders as readonly Buffer[]);
      },
      onResponseData: (controller, chunk) => {
        size += chunk.length;
        if (size > mostBytes)
          controller.abort(new RangeError(`the answer is larger than ${mostBytes} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd: () => {
        end();
        resolve(receivedOf({ status, headers }, Buffer.concat(chunks), mostBytes));
      },
      onResponseError: (_controller, error) => {
        end();
        reject(error);
      },
    };
    dispatcher.dispatch(
      {
        ...(request.origin === undefined ? {} : { origin: request.origin }),
        method: request.method,
        path: request.path,
        headers: request.headers.flat().map(octets),
        body: request.body ?? null,
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    );
  });

/**
 * Calls back with the time that has passed once it exceeds both limits, unless cancelled. If this process was busy until
 * then, what has arrived meanwhile is read first: the event loop runs timers before it reads.
 */
export const afterAll = (
  { timeoutMs, slowLimitMs }: Pick<ReceiveLimits, "timeoutMs" | "slowLimitMs">,
  callback: (limitMs: number) => void,
): ReturnType<typeof after> => {
  const expire = (passedMs: number): void => {
    const limitMs = Math.max(passedMs, Math.round(slowLimitMs?.() ?? 0));
    if (limitMs > passedMs) timer = after(limitMs - passedMs, () => expire(limitMs));
    else timer = after(0, () => callback(passedMs));
  };
  let timer = after(timeoutMs, () => expire(timeoutMs));
  return { cancel: () => timer.cancel() };
};

/** Whether the address accepts connections, whatever it answers. */
export const isListening = async (...exchange: Parameters<typeof receive>): Promise<boolean> => {
  try {
    await receive(...exchange);
    return true;
  } catch (error) {
    return reasonOf(error) !== "refused";
  }
};

const receivedOf = async (
  head: Omit<Received, "text">,
  body: Buffer,
  mostBytes: number,
): Promise<Received> => {
  const plain = await decoded(body, codingsOf(head.headers), mostBytes);
  return { ...head, text: plain.toString("utf8") };
};

/** A header's text as Latin-1 bytes, or as UTF-8 if it has other characters. */
const octets = (text: string): string =>
  /[^\0-\xff]/.test(text) ? Buffer.from(text, "utf8").toString("latin1") : text;

/** A length that is not that of the body, as of one that was compressed later, keeps the client waiting. */
const timeoutOf = (timeoutMs: number, size: number, headers: Answer["headers"]): Error => {
  const length = headers.find(([name]) => name === "content-length")?.[1];
  const arrived = size === 0 || length === undefined ? "" : `, ${size} of ${length} bytes`;
  return new DOMException(`no complete answer within ${timeoutMs} ms${arrived}`, "TimeoutError");
};

const interruption = (signal: AbortSignal | undefined): Error =>
  signal?.reason instanceof Error ? signal.reason : new Error("interrupted");

/** undici's flat list of names and values as pairs; an object would lose the order and merge repeated headers. */
const pairsOf = (raw: readonly Buffer[]): Answer["headers"] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [
    (raw[2 * index] ?? "").toString("latin1").toLowerCase(),
    fieldValue((raw[2 * index + 1] ?? "").toString("latin1")),
  ]);

/** Why a request got no complete answer. */
export const reasonOf = (error: unknown): TransportError["reason"] => {
  const code = codeOf(error);
  if (error instanceof RangeError) return "too-large";
  if (/TIMEOUT/.test(code) || (error instanceof Error && /Timeout|Abort/.test(error.name))) return "timeout";
  if (/^(?:EMFILE|ENFILE|EADDRNOTAVAIL|EADDRINUSE|ENOBUFS)$/.test(code)) return "own-limit";
  if (/ECONNREFUSED|EPROXY|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(code)) return "refused";
  if (error instanceof errors.HTTPParserError || isRefusedHead(error)) return "protocol";
  if (/UND_ERR_RES|UND_ERR_HEADERS_OVERFLOW/.test(code)) return "protocol";
  if (/^ERR_SSL|^ERR_TLS|^EPROTO$|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return "protocol";
  return "closed";
};

/** Heads that undici refuses though they can be parsed: status 101, which no request here asks for, and endless ones. */
const isRefusedHead = (error: unknown): boolean =>
  error instanceof errors.SocketError && /^bad (?:upgrade|response)$/.test(error.message);

export const messageOf = (error: unknown): string => {
  if (isRefusedHead(error) && errorMessage(error) === "bad upgrade")
    return "status 101 Switching Protocols, which nobody asked for";
  const text = errorMessage(error);
  const code = codeOf(error);
  return code === "" || text.includes(code) ? text : `${text} (${code})`;
};

/** A header's value without the white space around it, which is not part of it (RFC 9110 section 5.5). */
const fieldValue = (raw: string): string => {
  let [start, end] = [0, raw.length];
  while (start < end && isBlank(raw.charCodeAt(start))) start += 1;
  while (end > start && isBlank(raw.charCodeAt(end - 1))) end -= 1;
  return raw.slice(start, end);
};

const SPACE = 0x20;
const TAB = 0x09;
const isBlank = (code: number): boolean => code === SPACE || code === TAB;

type Decoder = (body: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>;

/** Content codings by their names and aliases (RFC 9110 section 8.4.1, RFC 7932). */
const decoders: Readonly<Record<string, Decoder>> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** The codings of a body, in the order in which they were applied. */
export const codingsOf = (headers: Answer["headers"]): readonly string[] =>
  headers
    .filter(([name]) => name === "content-encoding")
    .flatMap(([, value]) => value.toLowerCase().split(","))
    .map((coding) => coding.trim())
    .filter((coding) => coding !== "" && coding !== "identity");

/**
 * A body without its codings. Most requests ask for none, so a service may choose (RFC 9110 section 12.5.3). A body whose
 * coding is unknown, or that is not what its header says, stays as it is. Throws RangeError if it becomes longer than
 * `mostBytes`.
 */
export const decoded = async (
  body: Buffer,
  codings: readonly string[],
  mostBytes: number,
): Promise<Buffer> => {
  let plain = body;
  for (const coding of codings.toReversed()) {
    const decode = decoders[coding];
    if (decode === undefined) return body;
    try {
      plain = await decode(plain, { maxOutputLength: mostBytes });
    } catch (error) {
      if (error instanceof RangeError) throw new RangeError(`the answer is larger than ${mostBytes} bytes`);
      return body;
    }
  }
  return plain;
};
