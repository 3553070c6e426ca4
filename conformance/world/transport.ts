import { Client, Pool, errors, type Dispatcher } from "undici";
import { after, monotonicMs, pause, type Clock } from "./clock.ts";
import { TransportError, headerOf, type Answer, type Request } from "./exchange.ts";
import type { Journal, Scope } from "./journal.ts";

/** What a request is sent through: its case's scope for the journal, and the clock that a 429 is waited out on. */
export interface Sender {
  readonly scope: Scope;
  readonly clock: Pick<Clock, "kind" | "sleep" | "canWait">;
}

/** One connection of its own, for races and for "another connection". */
export interface Connection {
  send(request: Request, sender: Sender): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * HTTP/1.1 to one origin. Sends each path byte for byte, follows no redirect and
 * repeats nothing, but for answers that ask for it: 429 or 503 with Retry-After.
 */
export interface Transport extends Connection {
  /** A connection of its own; closed with the transport at the latest. */
  dedicated(): Connection;
  inFlight(): number;
  /** How many answers asked to come back later, and were obeyed. */
  throttled(): number;
}

export interface TransportOptions {
  readonly origin: string;
  readonly journal: Journal;
  /** How long a whole exchange may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly startedAtMs: number;
  readonly maxConnections: number;
  /** Is shown every answer before anything is written, so that its credentials are masked from the first byte. */
  readonly learn: (answer: Pick<Answer, "headers" | "json">) => void;
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const MAX_THROTTLED_TRIES = 12;
/** Who asks to stay away for longer is not throttling but closed for the day; and no clock is moved for that. */
const MAX_OBEYED_MS = 24 * 3_600_000;

/**
 * How much of a Retry-After is waited out on this machine's clock, in milliseconds, where the
 * target has a clock of its own: little at first, as that may be the one the limiter goes by.
 */
export const realWaitMs = (attempt: number): number => Math.min(5_000, 50 * attempt ** 2);

export const createTransport = (options: TransportOptions): Transport => {
  const state: State = { inFlight: 0, throttled: 0, waiting: 0 };
  const common = { allowH2: false, pipelining: 1, connectTimeout: options.timeoutMs } as const;
  const pool = new Pool(options.origin, { ...common, connections: options.maxConnections });
  const clients = new Set<Client>();
  const send = (dispatcher: Dispatcher) => (request: Request, sender: Sender) =>
    sendPolitely(options, state, dispatcher, request, sender);
  return {
    send: send(pool),
    close: async () => {
      await Promise.all([pool, ...clients].map((one) => one.destroy()));
    },
    dedicated: () => {
      const client = new Client(options.origin, common);
      clients.add(client);
      const close = (): Promise<void> => {
        clients.delete(client);
        return client.destroy();
      };
      return { send: send(client), close };
    },
    inFlight: () => state.inFlight,
    throttled: () => state.throttled,
  };
};

interface State {
  inFlight: number;
  throttled: number;
  /** Requests that wait for their next try. */
  waiting: number;
}

/** How many of those who wait try again at the same time; all at once would be throttled all over again. */
const TRIES_AT_ONCE = 8;

/** Sends, and while the answer says "come back later" waits as long as it says and sends again (RFC 6585 section 4). */
const sendPolitely = async (
  options: TransportOptions,
  state: State,
  dispatcher: Dispatcher,
  request: Request,
  sender: Sender,
): Promise<Answer> => {
  let waitedMs = 0;
  for (let attempt = 1; ; attempt += 1) {
    state.inFlight += 1;
    const answer = await sendOnce(options, dispatcher, request, sender.scope).finally(() => {
      state.inFlight -= 1;
    });
    const waitMs = retryAfterMs(answer);
    if (waitMs === undefined) return answer;
    if (attempt >= MAX_THROTTLED_TRIES || waitMs > MAX_OBEYED_MS || !sender.clock.canWait(waitedMs + waitMs))
      throw new TransportError(
        answer.exchange,
        "timeout",
        `throttled ${attempt} times in a row, with status ${answer.status} and Retry-After ${headerOf(answer, "retry-after") ?? ""}`,
      );
    state.throttled += 1;
    const turn = 1 + Math.floor(state.waiting / TRIES_AT_ONCE);
    state.waiting += 1;
    try {
      // The limiter may count on the target's clock or on real time, and nobody can tell: first the cheap one, then both.
      await sender.clock.sleep(waitMs * turn);
      if (attempt > 1 && sender.clock.kind === "virtual") await pause(Math.min(waitMs, realWaitMs(attempt)));
    } finally {
      state.waiting -= 1;
    }
    waitedMs += waitMs * turn;
  }
};

/** How long the answer asks the client to stay away, in milliseconds; undefined where it does not (RFC 9110 section 10.2.3). */
export const retryAfterMs = (answer: Answer): number | undefined => {
  if (answer.status !== 429 && answer.status !== 503) return undefined;
  const value = headerOf(answer, "retry-after");
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1_000;
  // Date.parse takes much for a date that is none ("1.5" is a day of May), so only the form of RFC 9110 is read.
  const dateMs = /^[A-Z][a-z]+, .* GMT$/.test(value) ? Date.parse(value) : Number.NaN;
  const answeredMs = Date.parse(headerOf(answer, "date") ?? "");
  if (Number.isNaN(dateMs) || Number.isNaN(answeredMs)) return 1_000;
  return Math.max(0, dateMs - answeredMs);
};

const sendOnce = async (
  options: TransportOptions,
  dispatcher: Dispatcher,
  request: Request,
  scope: Scope,
): Promise<Answer> => {
  const n = options.journal.nextNumber();
  const sentMs = monotonicMs();
  const record = (
    outcome: { answer: { status: number; headers: Answer["headers"]; text: string } } | { error: string },
  ): void => {
    options.journal.add(scope, {
      n,
      startedMs: sentMs - options.startedAtMs,
      durationMs: monotonicMs() - sentMs,
      request,
      ...outcome,
    });
  };
  try {
    const answer = await receive(dispatcher, request, options.timeoutMs);
    const json = parseJson(answer.text);
    options.learn({ headers: answer.headers, json });
    record({ answer });
    return { exchange: n, ...answer, json };
  } catch (error) {
    if (error instanceof errors.InvalidArgumentError) throw error;
    const failure = new TransportError(n, reasonOf(error), messageOf(error));
    record({ error: failure.message });
    throw failure;
  }
};

interface Received {
  readonly status: number;
  readonly headers: Answer["headers"];
  readonly text: string;
}

/** One request and its whole answer. The time limit runs from the moment at which the request goes out. */
const receive = (dispatcher: Dispatcher, request: Request, timeoutMs: number): Promise<Received> =>
  new Promise((resolve, reject) => {
    let status = 0;
    let headers: Answer["headers"] = [];
    let size = 0;
    const chunks: Buffer[] = [];
    let limit: ReturnType<typeof after> | undefined;
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart: (controller) => {
        limit = after(timeoutMs, () => controller.abort(new AnswerTimeout(timeoutMs)));
      },
      onResponseStart: (controller, statusCode) => {
        status = statusCode;
        headers = pairsOf(controller.rawHeaders as readonly Buffer[]);
      },
      onResponseData: (controller, chunk) => {
        size += chunk.length;
        if (size > MAX_ANSWER_BYTES)
          controller.abort(new RangeError(`the answer is larger than ${MAX_ANSWER_BYTES} bytes`));
        else chunks.push(chunk);
      },
      onResponseEnd: () => {
        limit?.cancel();
        resolve({ status, headers, text: Buffer.concat(chunks).toString("utf8") });
      },
      onResponseError: (_controller, error) => {
        limit?.cancel();
        reject(error);
      },
    };
    dispatcher.dispatch(
      {
        method: request.method,
        path: request.path,
        headers: request.headers.flat(),
        body: request.body ?? null,
        headersTimeout: timeoutMs,
        bodyTimeout: timeoutMs,
      },
      handler,
    );
  });

class AnswerTimeout extends Error {
  constructor(timeoutMs: number) {
    super(`no whole answer within ${timeoutMs} ms`);
    this.name = "AnswerTimeout";
  }
}

/** undici's raw list of names and values in turn, as pairs: an object would lose the order, and put repeats together. */
const pairsOf = (raw: readonly Buffer[]): Answer["headers"] =>
  Array.from({ length: raw.length / 2 }, (_, index) => [
    (raw[2 * index] ?? "").toString("latin1").toLowerCase(),
    (raw[2 * index + 1] ?? "").toString("latin1"),
  ]);

/** The body as JSON; undefined where it is not JSON at all. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "";

const reasonOf = (error: unknown): TransportError["reason"] => {
  const code = codeOf(error);
  if (error instanceof RangeError) return "too-large";
  if (/TIMEOUT/.test(code) || (error instanceof Error && /Timeout|Abort/.test(error.name))) return "timeout";
  if (/ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(code)) return "refused";
  if (error instanceof errors.HTTPParserError) return "protocol";
  if (/UND_ERR_RES|UND_ERR_HEADERS_OVERFLOW/.test(code)) return "protocol";
  if (/^ERR_SSL|^ERR_TLS|^EPROTO$|CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return "protocol";
  return "closed";
};

/** What an error of the network says, with its code. */
export const messageOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  return code === "" || text.includes(code) ? text : `${text} (${code})`;
};
