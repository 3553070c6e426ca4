import { EventEmitter, once } from "node:events";
import type { Answered, Push, PushLine, LostStage } from "../../conformance/contract/push.ts";
import { type ReceiverClock, rounded } from "./clock.ts";
import type { Journal } from "./journal.ts";
import { reasonOf } from "../../conformance/contract/files.ts";

/** A line without its number. */
type LineBody = PushLine extends infer Line
  ? Line extends PushLine
    ? Omit<Line, "n" | "epoch">
    : never
  : never;

/** A numbered, unpublished line. */
interface Entry {
  readonly n: number;
  readonly text: string;
  /** Called when a push is stored; returns its end if immediate. */
  readonly answer?: (n: number) => Answered | undefined;
  /** Called if a push could not be stored, so that it must not be acknowledged. */
  readonly failed?: () => void;
  /** Whether all earlier lines are forgotten. */
  readonly clears?: boolean;
}

export interface EventLogOptions {
  readonly epoch: string;
  readonly clock: ReceiverClock;
  /** Stores each line before it is published; without it lines are only in memory. */
  readonly journal: Journal | undefined;
  readonly onTrouble: ((message: string) => void) | undefined;
}

export type EventLog = ReturnType<typeof createEventLog>;

const MEMORY_BYTES = 64 * 1_048_576;

export const createEventLog = (options: EventLogOptions) => {
  const { epoch, clock, journal } = options;
  const ring = createRing(MEMORY_BYTES);
  const published = new EventEmitter().setMaxListeners(0);
  let [last, lastNumbered, closed] = [0, 0, false];

  const numbered = ({ kind, ...rest }: LineBody): Entry => {
    lastNumbered += 1;
    const text = `{"kind":"${kind}","n":${lastNumbered},"epoch":"${epoch}",${JSON.stringify(rest).slice(1)}`;
    return { n: lastNumbered, text };
  };
  const publish = ({ n, text, answer, failed, clears }: Entry): void => {
    if (!keep(text, failed !== undefined) && failed !== undefined) return failed();
    const answered = answer?.(n);
    if (clears === true) ring.clear();
    const { answeredMs, outcome } = answered ?? {};
    const end = answered === undefined ? "" : `,"answeredMs":${answeredMs},"outcome":"${outcome}"}`;
    ring.add(n, end === "" ? text : text.slice(0, -1) + end);
    last = n;
    published.emit("line");
    if (answered !== undefined) record({ kind: "answered", push: n, ...answered });
  };
  const enqueue = inTurns(publish);
  const add = (entry: Entry): void => (closed ? entry.failed?.() : enqueue(entry));
  const record = (line: LineBody): void => add(numbered(line));
  const keep = keeperIn(options, record);

  return {
    epoch,
    last: () => last,
    /** The last assigned number; its line may not be readable yet. */
    lastNumbered: () => lastNumbered,
    record,
    recordPush: (push: Push, answer: NonNullable<Entry["answer"]>, failed: () => void): void =>
      add({ ...numbered({ kind: "push", ...push }), answer, failed }),
    /** Restores a line recorded by an earlier process. */
    restore: ({ kind, n }: PushLine, text: string): void => {
      if (kind === "cleared") ring.clear();
      ring.add(n, text);
      last = lastNumbered = Math.max(last, n);
    },
    clear: () => add({ ...numbered({ kind: "cleared", atMs: clock.nowMs() }), clears: true }),
    /** JSON texts of the lines after `after` up to `upTo`, in order, at most `limit`. */
    read: ring.between,
    /** Resolves when there is a line after `after`, after `maxMs`, or when the signal aborts. */
    waitFor: async (after: number, maxMs: number, signal: AbortSignal): Promise<void> => {
      const isThere = (): boolean => last > after;
      if (isThere() || maxMs <= 0) return;
      const over = AbortSignal.any([signal, AbortSignal.timeout(maxMs)]);
      while (!isThere() && !over.aborted)
        await once(published, "line", { signal: over }).catch(() => undefined);
    },
    close: (): void => {
      closed = true;
      journal?.close();
    },
  };
};

/** A line that records an answer is published after the push it answers. */
const inTurns = (publish: (entry: Entry) => void): ((entry: Entry) => void) => {
  const waiting: Entry[] = [];
  let publishing = false;
  return (entry) => {
    waiting.push(entry);
    if (publishing) return;
    publishing = true;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) publish(next);
    } finally {
      publishing = false;
    }
  };
};

/** Writes lines to the journal; reports once when it cannot be written, and once when it can again. */
const keeperIn = (
  { journal, clock, onTrouble }: EventLogOptions,
  record: (line: LineBody) => void,
): ((text: string, isPush: boolean) => boolean) => {
  let broken = false;
  const tell = (message: string, lost: object = {}): void => {
    broken = !broken;
    onTrouble?.(message);
    record({ kind: "fault", atMs: clock.nowMs(), message, ...lost });
  };
  return (text, isPush) => {
    try {
      journal?.append(text);
    } catch (error) {
      const lost = { stage: "request", count: 1, openedMs: [clock.nowMs()] };
      const words = `the journal cannot be written (${reasonOf(error)}): no push is acknowledged until it can be again`;
      if (!broken) tell(words, isPush ? { lost } : {});
      return false;
    }
    if (broken) tell("the journal can be written again");
    return true;
  };
};

/**
 * Lines are stored as bytes in a few large reused buffers. As strings they would live just long enough to be promoted
 * to the old generation, and a receiver under load would grow by hundreds of megabytes.
 */
interface Segment {
  readonly bytes: Buffer;
  readonly numbers: number[];
  /** Offset of each line, and of the end. */
  readonly starts: number[];
}

const SEGMENT_BYTES = 1_048_576;

/** The newest lines within a bounded number of bytes. */
export const createRing = (maxBytes: number) => {
  const most = Math.max(2, Math.ceil(maxBytes / SEGMENT_BYTES));
  let segments: Segment[] = [];

  /** Reuses the oldest segment's buffer for the newest lines, if it has the usual size and is large enough. */
  const begin = (needed: number): Segment => {
    const dropped = segments.length >= most ? segments.shift() : undefined;
    const bytes =
      dropped?.bytes.length === SEGMENT_BYTES && needed <= SEGMENT_BYTES
        ? dropped.bytes
        : Buffer.allocUnsafeSlow(Math.max(needed, SEGMENT_BYTES));
    const segment = { bytes, numbers: [], starts: [0] };
    segments.push(segment);
    return segment;
  };

  return {
    add: (n: number, text: string): void => {
      const needed = Buffer.byteLength(text);
      const newest = segments.at(-1);
      const segment =
        newest !== undefined && (newest.starts.at(-1) ?? 0) + needed <= newest.bytes.length
          ? newest
          : begin(needed);
      const start = segment.starts.at(-1) ?? 0;
      segment.numbers.push(n);
      segment.starts.push(start + segment.bytes.write(text, start));
    },
    /** Lines with numbers above `after` and up to `upTo`, at most `limit`. Numbers may have gaps. */
    between: (after: number, upTo: number, limit: number): readonly string[] => {
      const lines: string[] = [];
      for (const { bytes, numbers, starts } of segments) {
        if ((numbers.at(-1) ?? 0) <= after) continue;
        for (let index = firstAfter(numbers, after); index < numbers.length; index += 1) {
          if (lines.length >= limit || (numbers[index] ?? 0) > upTo) return lines;
          lines.push(bytes.toString("utf8", starts[index], starts[index + 1]));
        }
      }
      return lines;
    },
    clear: (): void => {
      segments = [];
    },
  };
};

/** The index of the first number above `after`, by binary search. */
const firstAfter = (numbers: readonly number[], after: number): number => {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) > after) high = middle;
    else low = middle + 1;
  }
  return low;
};

/** A connection that ended before a push could be read from it. */
export interface LostConnection {
  readonly stage: LostStage;
  readonly address?: string | undefined;
  readonly openedMs: number;
}

/**
 * Records faults on the wire: the first of a kind immediately, those of the next second in one line. `kind` groups
 * faults that differ only in details; lost connections are also grouped by stage and address.
 */
export type ReportFault = (kind: string, message: string, lost?: LostConnection) => void;

const GROUP_MS = 1_000;
const MOST_MOMENTS = 100;
/** With more groups at once, faults are no longer distinguished by address. */
const MOST_GROUPS = 200;

interface Group {
  readonly kind: string;
  readonly lost: Omit<LostConnection, "openedMs"> | undefined;
  count: number;
  openedMs: number[];
}

export const createFaults = (log: EventLog, clock: ReceiverClock): ReportFault => {
  const groups = new Map<string, Group>();
  const record = (message: string, { lost, count, openedMs }: Group): void => {
    const { stage, address } = lost ?? {};
    const from = address === undefined ? {} : { address };
    const about = stage === undefined ? {} : { lost: { stage, ...from, count, openedMs } };
    log.record({ kind: "fault", atMs: clock.nowMs(), message, ...about });
  };
  const open = (key: string, { kind, lost }: Group): void => {
    const group: Group = { kind, lost, count: 0, openedMs: [] };
    groups.set(key, group);
    clock.after(GROUP_MS, () => {
      groups.delete(key);
      if (group.count === 0) return;
      record(`${group.count} more within a second: ${kind}`, group);
      open(key, group);
    });
  };
  return (kind, message, lost) => {
    const address = groups.size < MOST_GROUPS ? lost?.address : undefined;
    const key = lost === undefined ? kind : `${kind} ${lost.stage} ${address ?? ""}`;
    const group = groups.get(key);
    if (group !== undefined) {
      group.count += 1;
      if (lost !== undefined && group.openedMs.length < MOST_MOMENTS)
        group.openedMs.push(rounded(lost.openedMs));
      return;
    }
    const first: Group = {
      kind,
      lost: lost === undefined ? undefined : { stage: lost.stage, address },
      count: 1,
      openedMs: lost === undefined ? [] : [rounded(lost.openedMs)],
    };
    record(message, first);
    open(key, first);
  };
};
