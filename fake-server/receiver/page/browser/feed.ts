import type { PushLine, PushLines, ReceiverState } from "../../../../conformance/contract/push.ts";
import { pause } from "./clock.ts";

export type Connection = "live" | "reading" | "paused" | "lost" | "locked";

export interface FeedEvents {
  /** Told before the first lines, and again after each interruption. */
  readonly onState: (state: ReceiverState) => void;
  readonly onLines: (lines: readonly PushLine[]) => void;
  /** The receiver began again with a journal of its own: what was shown belongs to another one. */
  readonly onRestart: () => void;
  readonly onConnection: (connection: Connection) => void;
}

export interface Feed {
  readonly state: () => Promise<ReceiverState>;
  /** One line by its number. */
  readonly line: (n: number) => Promise<PushLine | undefined>;
  readonly journal: () => Promise<Blob>;
  readonly setPaused: (paused: boolean) => void;
  readonly setToken: (token: string) => void;
}

const longestWaitMs = 20_000;
const linesAtOnce = 1_000;

class Locked extends Error {}

/** Reads the receiver's lines as they come, and again after every interruption from where it stopped. */
export const openFeed = (
  firstToken: string,
  { onConnection, onLines, onRestart, onState }: FeedEvents,
): Feed => {
  let token = firstToken;
  let paused = false;
  let waiting = new AbortController();

  const ask = async (path: string, signal?: AbortSignal): Promise<Response> => {
    const headers = token === "" ? {} : { authorization: `Bearer ${token}` };
    const response = await fetch(path, { headers, cache: "no-store", ...(signal && { signal }) });
    if (response.status === 401) throw new Locked("The receiver asks for a token");
    if (!response.ok) throw new Error(`The receiver answered ${response.status}`);
    return response;
  };

  const pushes = async (after: number, waitMs: number, limit: number, signal?: AbortSignal) => {
    const query = `after=${after}&wait=${waitMs}&limit=${limit}`;
    return (await (await ask(`pushes?${query}`, signal)).json()) as PushLines;
  };

  /** Whatever changes what the loop should do next (pause, token) interrupts what it waits for. */
  const interrupt = (): void => {
    waiting.abort();
    waiting = new AbortController();
  };

  const state = async (): Promise<ReceiverState> => (await (await ask("state")).json()) as ReceiverState;

  const readOn = async (after: number): Promise<number> => {
    const { lines, last } = await pushes(after, longestWaitMs, linesAtOnce, waiting.signal);
    if (last < after) {
      onRestart();
      return 0;
    }
    const inOrder = lines.toSorted((one, other) => one.n - other.n);
    onLines(inOrder);
    // Nothing although there is a newer line: what was between is not to be had any more.
    const reached = inOrder.at(-1)?.n ?? last;
    onConnection(reached < last ? "reading" : "live");
    return reached;
  };

  const wait = async (connection: Connection, milliseconds: number): Promise<void> => {
    onConnection(connection);
    await pause(milliseconds, waiting.signal);
  };

  const run = async (): Promise<never> => {
    let after = 0;
    let interrupted = true;
    onConnection("reading");
    for (;;) {
      if (paused) {
        await wait("paused", 3_600_000);
        continue;
      }
      const { signal } = waiting;
      try {
        if (interrupted) onState(await state());
        interrupted = false;
        after = await readOn(after);
      } catch (error) {
        if (signal.aborted) continue;
        interrupted = true;
        await (error instanceof Locked ? wait("locked", 3_600_000) : wait("lost", 1_000));
      }
    }
  };

  void run();

  return {
    state,
    line: async (n) => (await pushes(n - 1, 0, 1)).lines.find((line) => line.n === n),
    journal: async () => (await ask("journal")).blob(),
    setPaused: (next) => {
      paused = next;
      interrupt();
    },
    setToken: (next) => {
      token = next;
      interrupt();
    },
  };
};
