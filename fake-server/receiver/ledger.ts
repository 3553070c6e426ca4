import type { Answered, Push, PushLine } from "../../conformance/contract/push.ts";
import type { ReceiverClock } from "./clock.ts";
import type { Journal } from "./journal.ts";
import { reasonOf } from "./problems.ts";
import { lineChunks } from "./read-journal.ts";
import { type Place, PLACE_BYTES, type Recovered } from "./recovery.ts";
import { createRing } from "./ring.ts";

/** A line before it has its number. */
type LineBody = PushLine extends infer Line
  ? Line extends PushLine
    ? Omit<Line, "n" | "epoch">
    : never
  : never;

/** All that the receiver has to tell, in order: numbered, made durable, and handed to whoever waits for it. */
export interface Ledger {
  readonly epoch: string;
  /** Number of the newest line that can be read. */
  readonly last: () => number;
  readonly record: (line: LineBody) => void;
  /**
   * Records a push. `durable` is called when its line is: it answers, and tells the end of the push where that
   * was at once. `failed` is called when the line could not be kept: nothing may be acknowledged then.
   */
  readonly recordPush: (push: Push, durable: (n: number) => Answered | undefined, failed: () => void) => void;
  readonly recordAnswered: (push: number, answered: Answered) => void;
  /** Forgets the lines in memory; the journal keeps them. */
  readonly clear: () => void;
  /** JSON texts of the lines after `after` up to `upTo`, in order, in groups of bounded size. */
  readonly read: (after: number, upTo: number, limit: number) => AsyncGenerator<readonly string[]>;
  /** Fulfilled when there is a line after `after`, or after `maxMs`. */
  readonly waitFor: (after: number, maxMs: number, signal: AbortSignal) => Promise<void>;
  /** Calls `onLine` for each new line until the returned function is called. */
  readonly subscribe: (onLine: (n: number, text: string) => void) => () => void;
  /** Fulfilled when all that was recorded so far can be read. */
  readonly settled: () => Promise<void>;
  /** Waits until all lines are kept, and closes the journal. */
  readonly close: () => Promise<void>;
}

interface Entry {
  readonly n: number;
  readonly text: string;
  readonly durable?: (n: number) => Answered | undefined;
  readonly failed?: () => void;
}

/** How long the end of a push that was told already may wait for other lines to be written with. */
const LAZY_MS = 20;
/** Lines in memory: what the last minutes brought where a journal has the rest, more where it has not. */
const RING_BYTES = { journal: 16 * 1_048_576, memory: 64 * 1_048_576 };
export interface LedgerOptions {
  readonly epoch: string;
  readonly clock: ReceiverClock;
  readonly journal: Journal | undefined;
  readonly recovered: Recovered;
  /** Told once when the journal cannot be written, and once when it can be again. */
  readonly onTrouble: (message: string) => void;
}

export const createLedger = ({ epoch, clock, journal, recovered, onTrouble }: LedgerOptions): Ledger => {
  const ring = createRing(journal === undefined ? RING_BYTES.memory : RING_BYTES.journal);
  const places: Place[] = [...recovered.places];
  const waiters = new Set<() => void>();
  const subscribers = new Set<(n: number, text: string) => void>();
  let [next, last, cleared] = [recovered.last + 1, recovered.last, Math.max(0, recovered.cleared - 1)];
  let pending: Entry[] = [];
  let writing: Promise<void> | undefined;
  let lazy: (() => void) | undefined;
  let [urgent, publishing, broken, closed] = [false, false, false, false];
  let publishedSize = journal?.size() ?? 0;

  const numbered = ({ kind, ...rest }: LineBody): { n: number; text: string } => {
    const n = next;
    next += 1;
    return { n, text: `{"kind":"${kind}","n":${n},"epoch":"${epoch}",${JSON.stringify(rest).slice(1)}` };
  };

  const firstInMemory = (): number => ring.first() ?? last + 1;

  const publish = (n: number, text: string): void => {
    last = n;
    ring.add(n, text);
    for (const onLine of subscribers) onLine(n, text);
  };

  const publishDurable = ({ n, text, durable }: Entry): void => {
    const answered = durable?.(n);
    if (answered === undefined) {
      publish(n, text);
      return;
    }
    const { answeredMs, outcome } = answered;
    publish(n, `${text.slice(0, -1)},"answeredMs":${answeredMs},"outcome":"${outcome}"}`);
    pending.push(numbered({ kind: "answered", push: n, ...answered }));
    lazy ??= clock.after(LAZY_MS, flush);
  };

  const wake = (): void => {
    for (const wakeOne of waiters) wakeOne();
  };

  /** One write and one sync for all that came meanwhile; then their answers, then the next batch. */
  const writeAll = async (target: Journal): Promise<void> => {
    while (urgent) {
      const batch = pending;
      [pending, urgent] = [[], false];
      lazy?.();
      lazy = undefined;
      const offset = target.size();
      try {
        await target.append(`${batch.map(({ text }) => text).join("\n")}\n`);
      } catch (error) {
        refuse(batch, error);
        continue;
      }
      if (offset - (places.at(-1)?.offset ?? -PLACE_BYTES) >= PLACE_BYTES)
        places.push({ n: batch[0]?.n ?? 0, offset });
      publishedSize = target.size();
      for (const entry of batch) publishDurable(entry);
      if (broken) mended();
      wake();
    }
  };

  /** Nothing of the batch is durable: its pushes are not acknowledged, the rest is told from memory alone. */
  const refuse = (batch: readonly Entry[], error: unknown): void => {
    const told = broken;
    broken = true;
    for (const { n, text, failed } of batch)
      if (failed === undefined) publish(n, text);
      else failed();
    if (!told) {
      const message = `the journal cannot be written (${reasonOf(error)}): no push is acknowledged until it can be again`;
      onTrouble(message);
      note(message, batch.filter(({ failed }) => failed !== undefined).length);
    }
    wake();
  };

  const mended = (): void => {
    broken = false;
    const message = "the journal can be written again";
    onTrouble(message);
    note(message);
  };

  const note = (message: string, lostPushes = 0): void => {
    const atMs = clock.nowMs();
    const lost = {
      stage: "request",
      count: lostPushes,
      openedMs: Array.from({ length: Math.min(lostPushes, 100) }, () => atMs),
    } as const;
    pending.push(numbered({ kind: "fault", atMs, message, ...(lostPushes > 0 ? { lost } : {}) }));
    urgent = true;
  };

  const flush = (): void => {
    if (journal === undefined) {
      // What an answer records in its turn comes after the push that it answers.
      if (publishing) return;
      publishing = true;
      while (pending.length > 0) for (const entry of pending.splice(0)) publishDurable(entry);
      publishing = false;
      lazy?.();
      lazy = undefined;
      wake();
      return;
    }
    urgent = pending.length > 0;
    writing ??= writeAll(journal).finally(() => {
      writing = undefined;
      if (urgent) flush();
    });
  };

  const add = (entry: Entry): void => {
    if (closed) {
      entry.failed?.();
      return;
    }
    pending.push(entry);
    flush();
  };

  const settled = async (): Promise<void> => {
    if (writing === undefined) return;
    await writing;
    await settled();
  };

  async function* fromJournal(
    target: Journal,
    after: number,
    until: number,
  ): AsyncGenerator<readonly string[]> {
    const offset = places.findLast(({ n }) => n <= after + 1)?.offset ?? 0;
    for await (const { text } of lineChunks(target.file, offset, publishedSize)) {
      const lines = text
        .slice(0, -1)
        .split("\n")
        .filter((line) => {
          const n = Number(/"n":(\d+)/.exec(line.slice(0, 64))?.[1] ?? 0);
          return n > after && n < until;
        });
      if (lines.length > 0) yield lines;
    }
  }

  return {
    epoch,
    last: () => last,
    record: (line) => add(numbered(line)),
    recordPush: (push, durable, failed) => add({ ...numbered({ kind: "push", ...push }), durable, failed }),
    recordAnswered: (push, answered) => add(numbered({ kind: "answered", push, ...answered })),
    clear: () => {
      const line = numbered({ kind: "cleared", atMs: clock.nowMs() });
      cleared = line.n - 1;
      ring.clear();
      add(line);
    },
    read: async function* (after, upTo, limit) {
      let from = Math.max(after, cleared);
      let left = limit;
      // Memory may lose its oldest lines while the journal is read: then these come from the journal as well.
      for (;;) {
        const first = firstInMemory();
        if (journal === undefined || from + 1 >= first) break;
        for await (const lines of fromJournal(journal, from, Math.min(first, upTo + 1))) {
          yield lines.slice(0, left);
          left -= lines.length;
          if (left <= 0) return;
        }
        from = first - 1;
      }
      yield ring.between(from, upTo, left);
    },
    waitFor: (after, maxMs, signal) =>
      new Promise((resolve) => {
        if (last > Math.max(after, cleared) || maxMs <= 0 || signal.aborted) {
          resolve();
          return;
        }
        const done = (): void => {
          waiters.delete(look);
          cancel();
          signal.removeEventListener("abort", done);
          resolve();
        };
        const look = (): void => {
          if (last > Math.max(after, cleared)) done();
        };
        const cancel = clock.after(maxMs, done);
        waiters.add(look);
        signal.addEventListener("abort", done, { once: true });
      }),
    subscribe: (onLine) => {
      subscribers.add(onLine);
      return () => subscribers.delete(onLine);
    },
    settled,
    close: async () => {
      lazy?.();
      lazy = undefined;
      flush();
      await settled();
      closed = true;
      await journal?.close();
    },
  };
};
