import type { ReceiverClock } from "./clock.ts";
import type { Entry, LineBody, Queue } from "./event-log.ts";
import type { Journal } from "./journal.ts";
import { reasonOf } from "./problems.ts";

export interface DurableQueueOptions {
  readonly journal: Journal;
  readonly clock: ReceiverClock;
  readonly publish: (entry: Entry) => void;
  readonly record: (line: LineBody) => void;
  readonly onTrouble: ((message: string) => void) | undefined;
}

/** How long a line that readers do not wait for may wait for others to be written with. */
const LATER_MS = 20;
const MOST_MOMENTS = 100;

/** Publishes lines once they are durable: one write and one sync for all that came during the one before. */
export const createDurableQueue = (options: DurableQueueOptions): Queue => {
  const { journal, clock } = options;
  const trouble = createTroubleReporter(options);
  let pending: Entry[] = [];
  let cancelLater: (() => void) | undefined;
  let urgent = false;
  let writing: Promise<void> | undefined;

  const writeAll = async (): Promise<void> => {
    while (urgent) {
      const batch = pending;
      [pending, urgent] = [[], false];
      cancelLater?.();
      cancelLater = undefined;
      await write(options, trouble, batch);
    }
    writing = undefined;
  };
  const flush = (): void => {
    if (pending.length === 0) return;
    urgent = true;
    writing ??= writeAll();
  };
  const settled = async (): Promise<void> => {
    if (writing === undefined) return;
    await writing;
    await settled();
  };

  return {
    add: (entry) => {
      pending.push(entry);
      flush();
    },
    addLater: (entry) => {
      pending.push(entry);
      cancelLater ??= clock.after(LATER_MS, flush);
    },
    settled,
    close: async () => {
      // Twice: what is written first is then answered, and these answers are recorded as well.
      for (let round = 0; round < 2; round += 1) {
        flush();
        await settled();
      }
      cancelLater?.();
      await journal.close();
    },
  };
};

const write = async (
  { journal, publish }: DurableQueueOptions,
  trouble: ReturnType<typeof createTroubleReporter>,
  batch: readonly Entry[],
): Promise<void> => {
  try {
    await journal.append(`${batch.map(({ text }) => text).join("\n")}\n`);
  } catch (error) {
    // Pushes are not acknowledged; other lines are published from memory alone.
    for (const entry of batch)
      if (entry.failed === undefined) publish(entry);
      else entry.failed();
    trouble.began(error, batch.filter(({ failed }) => failed !== undefined).length);
    return;
  }
  for (const entry of batch) publish(entry);
  trouble.ended();
};

/** Reports once that the journal cannot be written, and once that it can be again. */
const createTroubleReporter = ({ clock, record, onTrouble }: DurableQueueOptions) => {
  let broken = false;
  const tell = (message: string, lostPushes: number): void => {
    const atMs = clock.nowMs();
    onTrouble?.(message);
    const openedMs = Array.from({ length: Math.min(lostPushes, MOST_MOMENTS) }, () => atMs);
    const lost = { stage: "request", count: lostPushes, openedMs } as const;
    record({ kind: "fault", atMs, message, ...(lostPushes > 0 ? { lost } : {}) });
  };
  return {
    began: (error: unknown, lostPushes: number): void => {
      if (broken) return;
      broken = true;
      tell(
        `the journal cannot be written (${reasonOf(error)}): no push is acknowledged until it can be again`,
        lostPushes,
      );
    },
    ended: (): void => {
      if (!broken) return;
      broken = false;
      tell("the journal can be written again", 0);
    },
  };
};
