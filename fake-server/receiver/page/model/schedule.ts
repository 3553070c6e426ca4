/**
 * The readings of the retry schedule (document, section 6) as the page draws them. A receiver sees no event,
 * only pushes, so everything here counts from a notification's first push.
 */
export interface Reading {
  readonly id: string;
  readonly words: string;
  /** Each delay counts from the push before; otherwise all count from one start. */
  readonly between: boolean;
  /** Milliseconds of each push after the first push, were every push to fail at once. */
  readonly offsetsMs: (delaysMs: readonly number[]) => readonly number[];
}

const sums = (delaysMs: readonly number[]): number[] => {
  let sum = 0;
  return [0, ...delaysMs.map((delay) => (sum += delay))];
};

/** The delays, each later one further delayed in the same manner: doubled. */
const doubled = (delaysMs: readonly number[]): number[] => [...delaysMs, 2 * (delaysMs.at(-1) ?? 0)];

const repeated = (delaysMs: readonly number[]): number[] => [...delaysMs, delaysMs.at(-1) ?? 0];

const sinceFirst = (timesMs: readonly number[]): number[] => timesMs.map((time) => time - (timesMs[0] ?? 0));

export const readings: readonly Reading[] = [
  {
    id: "R1",
    words: "first at once, delays between pushes, five in all",
    between: true,
    offsetsMs: sums,
  },
  {
    id: "R2",
    words: "first at once, delays from the first push, five in all",
    between: false,
    offsetsMs: (delaysMs) => [0, ...delaysMs],
  },
  {
    id: "R3",
    words: "first delayed too, delays between pushes, five in all",
    between: true,
    offsetsMs: (delaysMs) => sums(doubled(delaysMs).slice(1)),
  },
  {
    id: "R4",
    words: "first delayed too, delays from the event, five in all",
    between: false,
    offsetsMs: (delaysMs) => sinceFirst(doubled(delaysMs)),
  },
  {
    id: "R5",
    words: "five retries after the first, delays between pushes",
    between: true,
    offsetsMs: (delaysMs) => sums(doubled(delaysMs)),
  },
  {
    id: "R6",
    words: "five retries after the first, delays from the first push",
    between: false,
    offsetsMs: (delaysMs) => [0, ...doubled(delaysMs)],
  },
  {
    id: "R7",
    words: "five retries after the first, the longest delay repeated",
    between: true,
    offsetsMs: (delaysMs) => sums(repeated(delaysMs)),
  },
  {
    id: "R8",
    words: "first delayed, only the listed delays, four in all",
    between: true,
    offsetsMs: (delaysMs) => sums(delaysMs.slice(1)),
  },
];

/** The delays of the document, section 6. */
export const documentDelaysMs: readonly number[] = [30_000, 60_000, 120_000, 240_000];

export interface Schedule {
  readonly reading: Reading;
  readonly delaysMs: readonly number[];
}

/** Where one push is expected, in milliseconds since the notification's first push. */
export interface ExpectedWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

/** When a push began and when its answer was handed over or given up, since the notification's first push. */
export interface Span {
  readonly startMs: number;
  readonly endMs: number;
}

/** A tenth of a delay, but no less than the clocks and queues of a quick schedule need. */
const lateness = (delayMs: number): number => Math.max(delayMs / 10, 250);

/** A push is called early only beyond this: the sender's clock and ours are not the same. */
const earlinessMs = 50;

/**
 * The window of each push. It opens where the delay has passed since the start of the push that it counts
 * from, and closes a tenth of the delay after it has passed since that push's end, so that both anchors (from
 * the start, from the failure) lie inside. Where no push has been seen to count from, the offset does.
 */
export const expectedWindows = (schedule: Schedule, spans: readonly Span[]): ExpectedWindow[] => {
  const { reading, delaysMs } = schedule;
  const offsets = reading.offsetsMs(delaysMs);
  const windows: ExpectedWindow[] = [];
  for (const [index, offset] of offsets.entries()) {
    const previous = windows.at(-1);
    if (previous === undefined) {
      windows.push({ fromMs: 0, toMs: 0 });
      continue;
    }
    const gap = offset - (offsets[index - 1] ?? 0);
    const anchor = reading.between ? spans[index - 1] : spans[0];
    const delay = reading.between ? gap : offset;
    const from =
      anchor === undefined ? (reading.between ? previous.fromMs + gap : offset) : anchor.startMs + delay;
    const to = anchor === undefined ? (reading.between ? previous.toMs + gap : offset) : anchor.endMs + delay;
    windows.push({ fromMs: from - earlinessMs, toMs: Math.max(from, to) + lateness(gap) });
  }
  return windows;
};

/** "30, 60, 120, 240" in seconds; undefined where it is not one to twelve growing, sensible delays. */
export const parseDelays = (text: string): number[] | undefined => {
  const parts = text.split(/[\s,;]+/).filter((part) => part !== "");
  const delays = parts.map((part) => Number(part) * 1_000);
  const sensible = delays.every((delay) => Number.isFinite(delay) && delay >= 1 && delay <= 86_400_000);
  return sensible && delays.length >= 1 && delays.length <= 12 ? delays : undefined;
};
