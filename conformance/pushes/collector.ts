import type { TimeInterval } from "../judging/interval.ts";
import type { PushAction, PushLine } from "../contract/push.ts";
import { monotonicMs } from "../world/clock.ts";
import { ReceiverError, type Receiver } from "../world/receiver.ts";
import type { LostConnection, SeenPush } from "../judging/pushes/trace.ts";
import type { Timeline } from "./timeline.ts";

type Arrival = Omit<SeenPush, "action">;
type Lost = NonNullable<Extract<PushLine, { kind: "fault" }>["lost"]>;

/** A flood of connections takes no more memory than this many. */
const MOST_LOST = 50_000;

/** Fetches the receiver's lines and says of each between which two moments it came about. */
export interface Collector {
  /**
   * Reads what has come since the last look, on a scale that stands at `now` at the least. Returns how many lines there
   * were; pushes of other users' events are none, or somebody who writes all the time would be waited for for ever.
   */
  collect(now?: TimeInterval): Promise<number>;
  /** Goes on with the same look: waits up to `waitMs` in real time for more to come. */
  collectMore(waitMs: number): Promise<number>;
  /** Whatever has ended since the last call had come to its sender's notice by now, or at once where that is left out. */
  settle(now?: TimeInterval): void;
  /** All pushes so far, in the order of the journal. */
  arrivals(): readonly Arrival[];
  /** Changes whenever the arrivals do. */
  revision(): number;
  /** Connections that no push could be read from. */
  lost(): readonly LostConnection[];
  /** Number of the last line that was read. */
  last(): number;
}

/** Pushes and lost connections, as the receiver's lines tell of them. */
const createArrivals = (timeline: Timeline) => {
  const all: Arrival[] = [];
  const byNumber = new Map<number, number>();
  const lost: LostConnection[] = [];
  /** Arrivals whose end was noted since the last time that everything had settled. */
  let unsettled = new Set<number>();

  const noteLost = (n: number, { stage, address, openedMs }: Lost, seen: TimeInterval): void => {
    if (lost.length >= MOST_LOST) return;
    const from = address === undefined ? {} : { address };
    for (const ms of openedMs)
      lost.push({ n, stage, at: timeline.momentOf(ms, 0) ?? seen, openedMs: ms, ...from });
  };

  const notePush = (line: Arrival["line"], seen: TimeInterval): void => {
    const at = timeline.momentOf(line.firstByteMs, line.uncertaintyMs) ?? seen;
    // A connection that the receiver itself ends is ended as soon as the push is complete.
    const endedMs =
      line.answeredMs ?? (line.action === "hang" || line.action === "answer" ? undefined : line.completeMs);
    const ended =
      endedMs === undefined ? undefined : (timeline.momentOf(endedMs, line.uncertaintyMs) ?? seen);
    const index = all.push({ line, at, ended }) - 1;
    byNumber.set(line.n, index);
    if (ended !== undefined) unsettled.add(index);
  };

  const noteAnswered = (line: Extract<PushLine, { kind: "answered" }>, seen: TimeInterval): void => {
    const index = byNumber.get(line.push) ?? -1;
    const arrival = all[index];
    if (arrival === undefined) return;
    const ended = timeline.momentOf(line.answeredMs, line.uncertaintyMs) ?? seen;
    const { answeredMs, outcome } = line;
    all[index] = { ...arrival, ended, line: { ...arrival.line, answeredMs, outcome } };
    unsettled.add(index);
  };

  return {
    all,
    lost,
    ofPush: (n: number) => all[byNumber.get(n) ?? -1],
    note: (line: PushLine, seen: TimeInterval): void => {
      if (line.kind === "fault" && line.lost !== undefined) noteLost(line.n, line.lost, seen);
      if (line.kind === "push") notePush(line, seen);
      if (line.kind === "answered") noteAnswered(line, seen);
    },
    /** What has ended had come to its sender's notice by then; returns how many ends that changes. */
    settle: (latestMs: number): number => {
      let changed = 0;
      for (const index of unsettled) {
        const arrival = all[index];
        if (arrival?.ended === undefined || arrival.ended.latestMs >= latestMs) continue;
        all[index] = { ...arrival, ended: { ...arrival.ended, latestMs } };
        changed += 1;
      }
      unsettled = new Set();
      return changed;
    },
  };
};

/**
 * On a virtual clock the receiver's stamps say nothing of the target's time: a push that this
 * look shows and the one before did not reached the receiver between the two. If the target does not say that
 * nothing was under way at the look before (`isSettled`), it may have left its sender before that one, so
 * that its interval begins yet a look earlier.
 */
export const createCollector = async (
  receiver: Receiver,
  timeline: Timeline,
  onLine: (line: PushLine) => void,
  isSettled: () => boolean,
  isOurs: (accountId: string | undefined) => boolean = () => true,
): Promise<Collector> => {
  const { epoch, last: first } = await receiver.state();
  const arrivals = createArrivals(timeline);
  let last = first;
  let looked = await timeline.now();
  let from = looked;
  let before = looked;
  let wasSettled = false;
  let revision = 0;

  const concernsUs = (line: PushLine): boolean => {
    if (line.kind === "push") return isOurs(line.accountId);
    return line.kind !== "answered" || isOurs(arrivals.ofPush(line.push)?.line.accountId);
  };
  const read = async (waitMs: number): Promise<{ readonly lines: number; readonly ours: number }> => {
    const lines = await receiver.pushes(last, waitMs);
    if (lines.length === 0) return { lines: 0, ours: 0 };
    const { latestMs } = await timeline.now();
    revision += 1;
    for (const line of lines) {
      if (line.epoch !== epoch) throw new ReceiverError("it was restarted while its pushes were watched");
      onLine(line);
      arrivals.note(line, { earliestMs: from.earliestMs, latestMs });
    }
    last = Math.max(last, ...lines.map(({ n }) => n));
    return { lines: lines.length, ours: lines.filter(concernsUs).length };
  };

  return {
    collect: async (now) => {
      from = wasSettled ? looked : before;
      before = looked;
      wasSettled = isSettled();
      looked = now ?? (await timeline.now());
      return (await read(0)).ours;
    },
    collectMore: async (waitMs) => {
      const untilMs = monotonicMs() + waitMs;
      for (let leftMs = waitMs; ; leftMs = untilMs - monotonicMs()) {
        const { lines, ours } = await read(Math.max(0, Math.ceil(leftMs)));
        if (ours > 0 || lines === 0 || leftMs <= 0) return ours;
      }
    },
    settle: (now) => {
      revision += arrivals.settle(timeline.kind === "real" ? -Infinity : (now?.latestMs ?? -Infinity));
    },
    arrivals: () => arrivals.all,
    revision: () => revision,
    lost: () => arrivals.lost,
    last: () => last,
  };
};

/** The action that a list of them has for this push of its notification. */
export const actionFor = (actions: readonly PushAction[], attempt: number): PushAction | undefined =>
  actions[Math.min(attempt, actions.length) - 1];
