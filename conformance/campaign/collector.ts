import type { PushAction, PushLine } from "../contract/push.ts";
import type { Bracket } from "../world/exchange.ts";
import { ReceiverError, type Receiver } from "../world/receiver.ts";
import type { SeenPush } from "./data.ts";
import type { Timeline } from "./timeline.ts";

type FaultLine = Extract<PushLine, { readonly kind: "fault" }>;
type Arrival = Omit<SeenPush, "action">;

/** Fetches the receiver's lines and says of each between which two moments it came about. */
export interface Collector {
  /**
   * Reads what is new; with `waitMs`, waits that long in real time for something to come. `now` is where
   * the scale stands at the least, where that is known already. Returns how many lines there were.
   */
  collect(now?: Bracket, waitMs?: number): Promise<number>;
  /** All pushes so far, in the order of the journal. */
  arrivals(): readonly Arrival[];
  /** Changes whenever the arrivals do. */
  revision(): number;
  faults(): readonly FaultLine[];
  /** Number of the last line that was read. */
  last(): number;
}

/**
 * On a virtual clock the receiver's stamps say nothing of the target's time: a push that this
 * look shows and the one before did not reached the receiver between the two.
 */
export const createCollector = async (
  receiver: Receiver,
  timeline: Timeline,
  onLine: (line: PushLine) => void,
): Promise<Collector> => {
  const { epoch, last: from } = await receiver.state();
  const arrivals: Arrival[] = [];
  const byNumber = new Map<number, number>();
  const faults: FaultLine[] = [];
  let last = from;
  let looked = await timeline.now();
  let revision = 0;

  const note = (line: PushLine, seen: Bracket): void => {
    if (line.epoch !== epoch) throw new ReceiverError("it was started anew while its pushes were watched");
    onLine(line);
    if (line.kind === "fault") faults.push(line);
    if (line.kind === "push") {
      const at = timeline.momentOf(line.firstByteMs, line.uncertaintyMs) ?? seen;
      // A connection that the receiver itself ends is ended as soon as the push is complete.
      const endedMs =
        line.answeredMs ?? (line.action === "hang" || line.action === "answer" ? undefined : line.completeMs);
      const ended =
        endedMs === undefined ? undefined : (timeline.momentOf(endedMs, line.uncertaintyMs) ?? seen);
      byNumber.set(line.n, arrivals.push({ line, at, ended }) - 1);
    }
    if (line.kind === "answered") {
      const index = byNumber.get(line.push) ?? -1;
      const arrival = arrivals[index];
      if (arrival === undefined) return;
      const ended = timeline.momentOf(line.answeredMs, line.uncertaintyMs) ?? seen;
      const { answeredMs, outcome } = line;
      arrivals[index] = { ...arrival, ended, line: { ...arrival.line, answeredMs, outcome } };
    }
  };

  return {
    collect: async (now, waitMs = 0) => {
      const before = looked;
      looked = now ?? (await timeline.now());
      const lines = await receiver.pushes(last, waitMs);
      if (lines.length === 0) return 0;
      const { latestMs } = await timeline.now();
      revision += 1;
      for (const line of lines) note(line, { earliestMs: before.earliestMs, latestMs });
      last = Math.max(last, ...lines.map(({ n }) => n));
      return lines.length;
    },
    arrivals: () => arrivals,
    revision: () => revision,
    faults: () => faults,
    last: () => last,
  };
};

/** The action that a list of them has for this push of its notification. */
export const actionFor = (actions: readonly PushAction[], attempt: number): PushAction | undefined =>
  actions[Math.min(attempt, actions.length) - 1];
