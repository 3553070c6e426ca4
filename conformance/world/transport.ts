import { Client, Pool, errors, type Dispatcher } from "undici";
import { after, monotonicMs, realTime, type RealTime } from "./clock.ts";
import { TransportError, type Answer, type Request } from "./exchange.ts";
import type { Journal, Scope } from "./journal.ts";
import type { Dialer } from "./dialer.ts";
import { createRoad, type Road } from "./road.ts";
import { createThrottles, type PatientClock, type Throttles } from "./throttling.ts";

/** What a request is sent through: its case's scope for the journal, and the clock that a 429 is waited out on. */
export interface Sender {
  readonly scope: Scope;
  readonly clock: PatientClock;
}

/** One connection of its own, for races and for "another connection". */
export interface Connection {
  send(request: Request, sender: Sender): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * HTTP/1.1 to one origin. Sends each path byte for byte, follows no redirect, and repeats nothing but what can change
 * nothing: requests that nobody accepted, reads whose connection was cut, and those that were asked to come back later.
 * A request that still has no whole answer throws TransportError, and stands among the losses of its case.
 */
export interface Transport extends Connection {
  /** A connection of its own; closed with the transport at the latest. */
  dedicated(): Connection;
  inFlight(): number;
  /** The road to the target, for whoever else sends requests on it. */
  readonly road: Road;
  readonly throttles: Throttles;
}

export interface TransportOptions {
  readonly origin: string;
  readonly journal: Journal;
  /** How long a whole exchange may take, in milliseconds. */
  readonly timeoutMs: number;
  readonly startedAtMs: number;
  /** How connections are opened; plainly where left out. */
  readonly dialer?: Dialer | undefined;
  readonly maxConnections: number;
  /** What is asked for to see whether a target that was away is back; "/" where left out. */
  readonly knockPath?: string;
  /** A number from 0 to below 1, for jitter; always the middle where left out. */
  readonly random?: () => number;
  /** Ends what is waited for on the road. */
  readonly signal?: AbortSignal;
  /** How long the target may stay away, in milliseconds. */
  readonly outageBudgetMs?: number | undefined;
  /** By which what is tried again is waited for. */
  readonly time?: RealTime;
  /** Is shown every answer before anything is written, so that its credentials are masked from the first byte. */
  readonly learn: (answer: Pick<Answer, "headers" | "json">) => void;
  /** Is shown every request that got an answer, with it. */
  readonly onAnswer?: ((request: Request, answer: Omit<Answer, "exchange">) => void) | undefined;
}

const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
/** How often a request is sent that nothing can come of but an answer. */
export const MOST_SENDS = 3;
/** How often a target is waited for that is back and away again. */
export const MOST_OUTAGES = 5;

export const createTransport = (options: TransportOptions): Transport => {
  const common = {
    allowH2: false,
    pipelining: 1,
    connectTimeout: options.timeoutMs,
    ...(options.dialer === undefined ? {} : { connect: options.dialer.connector(options.timeoutMs) }),
  } as const;
  const pool = new Pool(options.origin, { ...common, connections: options.maxConnections });
  const knock = async (): Promise<boolean> => {
    try {
      const request = { method: "GET", path: options.knockPath ?? "/", headers: [] };
      await receive(pool, request, options.timeoutMs);
      return true;
    } catch (error) {
      return reasonOf(error) !== "refused";
    }
  };
  const { random = () => 0.5, signal, outageBudgetMs, time = realTime } = options;
  const road = createRoad({
    knock,
    random,
    signal,
    time,
    ...(outageBudgetMs === undefined ? {} : { outageBudgetMs }),
  });
  const state: State = { inFlight: 0, isClosed: false, road, throttles: createThrottles(road, time), time };
  const clients = new Set<Client>();
  const send = (dispatcher: Dispatcher) => (request: Request, sender: Sender) =>
    sendPolitely(options, state, dispatcher, request, sender);
  return {
    send: send(pool),
    close: async () => {
      state.isClosed = true;
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
    road,
    throttles: state.throttles,
  };
};

interface State {
  inFlight: number;
  isClosed: boolean;
  readonly road: Road;
  readonly throttles: Throttles;
  readonly time: RealTime;
}

/** Sends, and while the answer says "come back later" waits as long as it says and sends again (RFC 6585 section 4). */
const sendPolitely = async (
  options: TransportOptions,
  state: State,
  dispatcher: Dispatcher,
  request: Request,
  sender: Sender,
): Promise<Answer> => {
  const { losses } = sender.scope;
  const name = losses.begin(request);
  try {
    return await state.throttles.obey(request, sender.clock, async () => {
      state.inFlight += 1;
      try {
        return await sendSurely(options, state, dispatcher, request, sender.scope);
      } finally {
        state.inFlight -= 1;
      }
    });
  } catch (error) {
    if (error instanceof TransportError) losses.note(name, error);
    throw error;
  }
};

/** Sends once more where that can change nothing: what nobody has accepted, and reads whose connection was cut. */
const sendSurely = async (
  options: TransportOptions,
  state: State,
  dispatcher: Dispatcher,
  request: Request,
  scope: Scope,
): Promise<Answer> => {
  const { road } = state;
  for (let cuts = 1, outages = 1; ;) {
    const sentMs = monotonicMs();
    try {
      const answer = await sendOnce(options, dispatcher, request, scope);
      road.answered(monotonicMs() - sentMs);
      return answer;
    } catch (error) {
      if (!(error instanceof TransportError) || state.isClosed) throw error;
      road.lost();
      if (error.reason === "refused" && outages <= MOST_OUTAGES) {
        outages += 1;
        if (!(await road.untilBack())) throw error;
      } else if (error.reason === "closed" && request.method === "GET" && cuts < MOST_SENDS) {
        await state.time.pause(road.backOffMs(cuts));
        cuts += 1;
      } else throw error;
      road.sentAgain();
    }
  }
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
    options.onAnswer?.(request, { ...answer, json });
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

/** How a request ended that got no whole answer. */
export const reasonOf = (error: unknown): TransportError["reason"] => {
  const code = codeOf(error);
  if (error instanceof RangeError) return "too-large";
  if (/TIMEOUT/.test(code) || (error instanceof Error && /Timeout|Abort/.test(error.name))) return "timeout";
  if (/ECONNREFUSED|EPROXY|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH/.test(code)) return "refused";
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
