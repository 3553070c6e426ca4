import { Client, Pool, errors, type Dispatcher } from "undici";
import { createConnectionHealth } from "./connection-health.ts";
import { TransportError, type Answer, type Request } from "../exchange.ts";
import type { Journal, Scope } from "../evidence/journal.ts";
import { createDialer, type Dialer } from "./dialer.ts";
import { messageOf, reasonOf, receive } from "./receive.ts";
import { parseJson } from "../../contract/json.ts";
import type { Retries } from "./retry.ts";
import { sendToTarget, type TargetAddress } from "./send.ts";
import { createUnanswered } from "./unanswered.ts";
import { createThrottles, type PatientClock } from "./throttling.ts";

/** The context of a request: its case's scope for the journal, and the clock on which a 429 is waited out. */
export interface Sender {
  readonly scope: Scope;
  readonly clock: PatientClock;
}

/** A dedicated connection, for races and for "another connection". */
export interface Connection {
  send(request: Request, sender: Sender): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * HTTP/1.1 to one origin. Sends each path byte for byte, follows no redirects, and repeats only what is harmless:
 * requests that were not accepted, reads whose connection was cut, and those asked to retry later. A request that still
 * has no complete answer throws TransportError and is recorded as a loss of its case.
 */
export interface Transport extends Connection {
  /** A dedicated connection; closed with the transport at the latest. */
  dedicated(): Connection;
  inFlight(): number;
  readonly address: TargetAddress;
}

export interface TransportOptions {
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

export const createTransport = (options: TransportOptions): Transport => {
  const common = {
    allowH2: false,
    pipelining: 1,
    connect: (options.dialer ?? createDialer()).connector(options.timeoutMs),
  } as const;
  const pool = new Pool(options.origin, { ...common, connections: options.maxConnections });
  const probe = async (): Promise<boolean> => {
    try {
      await receive(
        pool,
        { method: "GET", path: options.probePath ?? "/", headers: [] },
        { timeoutMs: options.timeoutMs },
      );
      return true;
    } catch (error) {
      return reasonOf(error) !== "refused";
    }
  };
  const health = createConnectionHealth(probe, options.retries);
  const state: State = {
    inFlight: 0,
    isClosed: false,
    health,
    retries: options.retries,
    throttles: createThrottles(health, options.retries),
    unanswered: createUnanswered(),
  };
  const clients = new Set<Client>();
  const send = (dispatcher: Dispatcher) => (request: Request, sender: Sender) =>
    sendSurely(options, state, dispatcher, request, sender);
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
    address: state,
  };
};

interface State extends TargetAddress {
  inFlight: number;
  isClosed: boolean;
}

const sendSurely = async (
  options: TransportOptions,
  state: State,
  dispatcher: Dispatcher,
  request: Request,
  { scope, clock }: Sender,
): Promise<Answer> => {
  const name = scope.losses.begin(request);
  const counted = async <T>(change: 1 | -1, work: () => Promise<T>): Promise<T> => {
    state.inFlight += change;
    try {
      return await work();
    } finally {
      state.inFlight -= change;
    }
  };
  try {
    return await counted(1, () =>
      sendToTarget(
        state,
        request,
        clock,
        () =>
          sendOnce(
            options,
            dispatcher,
            request,
            scope,
            state.unanswered.timeLimitMs(request, options.timeoutMs),
          ),
        () => state.isClosed,
        // A virtual clock would never move while a request waiting on it counts as in flight.
        (wait) => counted(-1, wait),
      ),
    );
  } catch (error) {
    if (error instanceof TransportError) scope.losses.note(name, error);
    throw error;
  }
};

const sendOnce = async (
  options: TransportOptions,
  dispatcher: Dispatcher,
  request: Request,
  scope: Scope,
  timeoutMs: number,
): Promise<Answer> => {
  const exchange = options.journal.begin(scope);
  try {
    const received = await receive(dispatcher, request, { timeoutMs });
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
