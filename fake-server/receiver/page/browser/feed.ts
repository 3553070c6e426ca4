import type { PushLine, PushLines, ReceiverState } from "../../../../conformance/contract/push.ts";
import { pause } from "./clock.ts";

export type Connection = "live" | "reading" | "paused" | "lost" | "locked";

export interface FeedEvents {
  /** Called before the first lines, after each interruption, and while paused. */
  readonly onState: (state: ReceiverState) => void;
  readonly onLines: (lines: readonly PushLine[]) => void;
  /** Another receiver answers, or the same one without its journal: discard what is shown. */
  readonly onRestart: () => void;
  readonly onConnection: (connection: Connection) => void;
}

export type Feed = ReturnType<typeof openFeed>;

const longestWaitMs = 20_000;
const linesAtOnce = 1_000;

class Locked extends Error {}

const createClient = (token: () => string) => {
  const ask = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(token() === "" ? {} : { authorization: `Bearer ${token()}` });
    if (init.body !== undefined) headers.set("content-type", "application/json");
    const response = await fetch(path, { ...init, headers, cache: "no-store" });
    if (response.status === 401) throw new Locked("The receiver asks for a token");
    if (!response.ok) throw new Error(await refusalIn(response));
    return response;
  };
  const pushes = async (after: number, waitMs: number, limit: number, signal?: AbortSignal) => {
    const query = `after=${after}&wait=${waitMs}&limit=${limit}`;
    return (await (await ask(`pushes?${query}`, signal === undefined ? {} : { signal })).json()) as PushLines;
  };
  return {
    pushes,
    state: async (): Promise<ReceiverState> => (await (await ask("state")).json()) as ReceiverState,
    line: async (n: number) => (await pushes(n - 1, 0, 1)).lines.find((line) => line.n === n),
    journal: async (): Promise<Blob> => (await ask("journal")).blob(),
    /** Calls the control interface; rejects with its one-line error if refused. */
    call: async (method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<unknown> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      return (await ask(path, { method, ...sent })).json();
    },
  };
};

const refusalIn = async (response: Response): Promise<string> => {
  const { error } = (await response.json().catch(() => ({}))) as { readonly error?: string };
  return error ?? `The receiver answered ${response.status}`;
};

type Client = ReturnType<typeof createClient>;

const readOn = async (
  client: Client,
  after: number,
  { onConnection, onLines, onRestart }: FeedEvents,
  signal: AbortSignal,
): Promise<number> => {
  const { lines, last } = await client.pushes(after, longestWaitMs, linesAtOnce, signal);
  if (last < after) {
    onRestart();
    return 0;
  }
  const inOrder = lines.toSorted((one, other) => one.n - other.n);
  onLines(inOrder);
  // Empty although there is a newer line: the lines between are no longer available.
  const reached = inOrder.at(-1)?.n ?? last;
  onConnection(reached < last ? "reading" : "live");
  return reached;
};

export const openFeed = (firstToken: string, events: FeedEvents) => {
  let token = firstToken;
  let paused = false;
  let waiting = new AbortController();
  const client = createClient(() => token);

  /** Whatever changes the loop's next step (pause, token) interrupts its current wait. */
  const interrupt = (): void => {
    waiting.abort();
    waiting = new AbortController();
  };
  const wait = async (connection: Connection, milliseconds: number): Promise<void> => {
    events.onConnection(connection);
    await pause(milliseconds, waiting.signal);
  };
  const run = async (): Promise<never> => {
    let after = 0;
    let interrupted = true;
    events.onConnection("reading");
    for (;;) {
      if (paused) {
        // The number of waiting lines is shown meanwhile.
        await wait("paused", 2_000);
        if (paused) await client.state().then(events.onState, () => undefined);
        continue;
      }
      const { signal } = waiting;
      try {
        if (interrupted) events.onState(await client.state());
        interrupted = false;
        after = await readOn(client, after, events, signal);
      } catch (error) {
        if (signal.aborted) continue;
        interrupted = true;
        await (error instanceof Locked ? wait("locked", 3_600_000) : wait("lost", 1_000));
      }
    }
  };

  void run();

  return {
    ...client,
    setPaused: (next: boolean): void => {
      paused = next;
      interrupt();
    },
    setToken: (next: string): void => {
      token = next;
      interrupt();
    },
  };
};
