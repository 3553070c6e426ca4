import { Client, Pool, errors, type buildConnector, type Dispatcher } from "undici";
import { TransportError, type Answer, type Request } from "../exchange.ts";
import type { Journal, Scope } from "../evidence/journal.ts";
import { createDialer, keepingNone, type Dialer } from "./dialer.ts";
import { isListening, messageOf, reasonOf, receive, type ReceiveLimits } from "./receive.ts";
import { parseJson } from "../../contract/json.ts";
import type { PacerOptions } from "./pacer.ts";
import type { Retries } from "./retry.ts";
import { addressOf, sendToTarget, slowLimitMs, type Flights, type TargetAddress } from "./send.ts";
import type { PatientClock } from "./throttling.ts";

/** The context of a request: its case's scope for the journal, and the clock on which a 429 is waited out. */
export interface Sender {
  readonly scope: Scope;
  readonly clock: PatientClock;
}

/** One that all requests share, or a dedicated one, for races and for "another connection". */
export interface Connection {
  send(request: Request, sender: Sender): Promise<Answer>;
  close(): Promise<void>;
}

export type Transport = ReturnType<typeof createTransport>;

export interface TransportOptions extends Pick<PacerOptions, "pace" | "maxWaitMs" | "toldMs"> {
  readonly origin: string;
  readonly journal: Journal;
  /** Time limit of a whole exchange, in milliseconds. */
  readonly timeoutMs: number;
  /** How connections are opened; directly if absent. */
  readonly dialer?: Dialer | undefined;
  readonly maxConnections: number;
  /** The path that is requested to check if a target that refuses connections is back; default "/". */
  readonly probePath?: string;
  readonly retries: Retries;
  /** Sees every answered request with its answer. */
  readonly onAnswer?: ((request: Request, answer: Omit<Answer, "exchange">) => void) | undefined;
}

/**
 * HTTP/1.1 to one origin. Sends each path byte for byte, follows no redirects, and repeats only what is harmless:
 * requests that were not accepted, reads whose connection was cut, and those asked to retry later. A request that still
 * has no complete answer throws TransportError and is recorded as a loss of its case.
 */
export const createTransport = (options: TransportOptions) => {
  const { origin, timeoutMs, retries } = options;
  const common = {
    allowH2: false,
    pipelining: 1,
    connect: (options.dialer ?? createDialer()).connector(timeoutMs),
  } as const;
  const pool = new Pool(origin, { ...common, connections: options.maxConnections });
  const unkept = new Pool(origin, { ...common, ...keepingNone, connections: options.maxConnections });
  const probed = { method: "GET", path: options.probePath ?? "/", headers: [] };
  const address = addressOf(() => isListening(pool, probed, { timeoutMs }), retries, options);
  const state: State = { ...address, inFlight: 0, isClosed: false };
  const sendSurely = sendingBy(options, state);
  const clients = new Set<Client>();
  return {
    send: (request: Request, sender: Sender): Promise<Answer> =>
      sendSurely(sender.scope.keepsNoConnection ? unkept : pool, request, sender),
    close: async (): Promise<void> => {
      state.isClosed = true;
      await Promise.all([pool, unkept, ...clients].map((one) => one.destroy()));
    },
    /** A dedicated connection; closed with the transport at the latest. */
    dedicated: (): Connection => {
      const { client, dispatcher } = anyPath(origin, common);
      clients.add(client);
      return {
        send: (request, sender) => sendSurely(dispatcher, request, sender),
        close: () => {
          clients.delete(client);
          return client.destroy();
        },
      };
    },
    inFlight: () => state.inFlight,
    address,
  };
};

/** What no HTTP client writes: white space and control characters, which end the request line or are forbidden in it. */
const unwritable = /[^\x21-\xff]/;
/** Stands for such a path until the request line is written. */
const STAND_IN = "/a-path-that-no-client-writes";

/** A connection that sends every path byte for byte. */
const anyPath = (origin: string, options: Client.Options & { connect: buildConnector.connector }) => {
  let path = "";
  const client = new Client(origin, {
    ...options,
    connect: (asked, done) =>
      options.connect(asked, (...result) => {
        const [, socket] = result;
        if (socket !== null) {
          const write = socket.write.bind(socket);
          socket.write = (chunk: string | Uint8Array, ...more: never[]) =>
            write(typeof chunk === "string" ? chunk.replace(STAND_IN, () => path) : chunk, ...more);
        }
        done(...result);
      }),
  });
  const dispatcher = client.compose((dispatch) => (request, handler) => {
    ({ path } = request);
    return dispatch(unwritable.test(path) ? { ...request, path: STAND_IN } : request, handler);
  });
  return { client, dispatcher };
};

interface State extends TargetAddress, Flights {
  isClosed: boolean;
}

const sendingBy = (options: TransportOptions, state: State) => {
  const isOver = (): boolean => state.isClosed;
  const slowMs = (): number => slowLimitMs(state, options.timeoutMs);
  return (dispatcher: Dispatcher, request: Request, { scope, clock }: Sender): Promise<Answer> =>
    sendToTarget(state, request, { scope, clock, isOver, flights: state }, () =>
      sendOnce(options, dispatcher, request, scope, {
        timeoutMs: options.timeoutMs,
        slowLimitMs: slowMs,
      }),
    );
};

const sendOnce = async (
  options: TransportOptions,
  dispatcher: Dispatcher,
  request: Request,
  scope: Scope,
  limits: ReceiveLimits,
): Promise<Answer> => {
  const exchange = options.journal.begin(scope);
  try {
    const received = await receive(dispatcher, request, limits);
    const answer = { ...received, json: parseJson(received.text) };
    options.onAnswer?.(request, answer);
    exchange.end(request, { answer });
    return { exchange: exchange.n, ...answer };
  } catch (error) {
    if (error instanceof errors.InvalidArgumentError) throw error;
    const failure = new TransportError(exchange.n, reasonOf(error), messageOf(error));
    exchange.end(request, { error: failure.message });
    throw failure;
  }
};
