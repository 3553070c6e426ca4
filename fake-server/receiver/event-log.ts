import type { Answered, Push, PushLine } from "../../conformance/contract/push.ts";
import type { ReceiverClock } from "./clock.ts";
import { createRing } from "./ring.ts";

/** A line before it has its number. */
export type LineBody = PushLine extends infer Line
  ? Line extends PushLine
    ? Omit<Line, "n" | "epoch">
    : never
  : never;

/** A numbered line that is not published yet. */
export interface Entry {
  readonly n: number;
  readonly text: string;
  readonly answer?: (n: number) => Answered | undefined;
  readonly failed?: () => void;
  /** Whether all lines before it are forgotten. */
  readonly clears?: boolean;
}

/** Publishes lines in order, each once it is kept. */
export interface Queue {
  readonly add: (entry: Entry) => void;
  /** For a line that readers do not wait for: it may be written with later ones. */
  readonly addLater: (entry: Entry) => void;
  /** Fulfilled when all that was added is published. */
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Everything that happened at the receiver, in order: numbered, and published to readers. The newest lines are in memory. */
export interface EventLog extends Pick<Queue, "settled" | "close"> {
  readonly epoch: string;
  /** Number of the newest line that can be read. */
  readonly last: () => number;
  /** The last number given out; its line may not be readable yet. */
  readonly lastNumbered: () => number;
  readonly record: (line: LineBody) => void;
  /**
   * Records a push. `answer` is called when its line is kept, and returns the end of the push where that was at once.
   * `failed` is called when the line could not be kept: nothing may be acknowledged then.
   */
  readonly recordPush: (push: Push, answer: (n: number) => Answered | undefined, failed: () => void) => void;
  readonly recordAnswered: (push: number, answered: Answered) => void;
  /** Takes up a line that an earlier process recorded. */
  readonly restore: (line: PushLine, text: string) => void;
  /** Forgets the lines in memory. */
  readonly clear: () => void;
  /** JSON texts of the lines after `after` up to `upTo`, in order, at most `limit`. */
  readonly read: (after: number, upTo: number, limit: number) => readonly string[];
  /** Fulfilled when there is a line after `after`, or after `maxMs`. */
  readonly waitFor: (after: number, maxMs: number, signal: AbortSignal) => Promise<void>;
}

const MEMORY_BYTES = 64 * 1_048_576;

/** Lines are kept in memory alone, unless `queueOf` makes a queue that keeps them elsewhere first. */
export const createEventLog = (
  epoch: string,
  clock: ReceiverClock,
  queueOf: (publish: (entry: Entry) => void, record: (line: LineBody) => void) => Queue = memoryQueue,
): EventLog => {
  const ring = createRing(MEMORY_BYTES);
  const published = new Set<() => void>();
  let [last, lastNumbered, closed] = [0, 0, false];

  const numbered = ({ kind, ...rest }: LineBody): Entry => {
    lastNumbered += 1;
    const text = `{"kind":"${kind}","n":${lastNumbered},"epoch":"${epoch}",${JSON.stringify(rest).slice(1)}`;
    return { n: lastNumbered, text };
  };
  const publish = ({ n, text, answer, clears }: Entry): void => {
    const answered = answer?.(n);
    if (clears === true) ring.clear();
    const { answeredMs, outcome } = answered ?? {};
    const end = answered === undefined ? "" : `,"answeredMs":${answeredMs},"outcome":"${outcome}"}`;
    ring.add(n, end === "" ? text : text.slice(0, -1) + end);
    last = n;
    for (const look of published) look();
    if (answered !== undefined) queue.addLater(numbered({ kind: "answered", push: n, ...answered }));
  };
  const add = (entry: Entry): void => {
    if (closed) entry.failed?.();
    else queue.add(entry);
  };
  const record = (line: LineBody): void => add(numbered(line));
  const queue = queueOf(publish, record);

  return {
    epoch,
    last: () => last,
    lastNumbered: () => lastNumbered,
    record,
    recordPush: (push, answer, failed) => add({ ...numbered({ kind: "push", ...push }), answer, failed }),
    recordAnswered: (push, answered) => record({ kind: "answered", push, ...answered }),
    restore: ({ kind, n }, text) => {
      if (kind === "cleared") ring.clear();
      ring.add(n, text);
      last = lastNumbered = Math.max(last, n);
    },
    clear: () => add({ ...numbered({ kind: "cleared", atMs: clock.nowMs() }), clears: true }),
    read: ring.between,
    waitFor: (after, maxMs, signal) => until(() => last > after, published, { clock, maxMs, signal }),
    settled: queue.settled,
    close: async () => {
      closed = true;
      await queue.close();
    },
  };
};

/** Fulfilled when `isTrue` after one of the calls of `published`, after `maxMs`, or when the signal is aborted. */
const until = (
  isTrue: () => boolean,
  published: Set<() => void>,
  {
    clock,
    maxMs,
    signal,
  }: { readonly clock: ReceiverClock; readonly maxMs: number; readonly signal: AbortSignal },
): Promise<void> => {
  if (isTrue() || maxMs <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      published.delete(look);
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const look = (): void => {
      if (isTrue()) done();
    };
    const cancel = clock.after(maxMs, done);
    published.add(look);
    signal.addEventListener("abort", done, { once: true });
  });
};

/** What an answer records in its turn is published after the push that it answers. */
const memoryQueue = (publish: (entry: Entry) => void): Queue => {
  const waiting: Entry[] = [];
  let publishing = false;
  const add = (entry: Entry): void => {
    waiting.push(entry);
    if (publishing) return;
    publishing = true;
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) publish(next);
    publishing = false;
  };
  return { add, addLater: add, settled: () => Promise.resolve(), close: () => Promise.resolve() };
};
