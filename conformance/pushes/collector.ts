import type { TimeInterval } from "../judging/interval.ts";
import type { PushAction, PushLine } from "../contract/push.ts";
import { monotonicMs } from "../world/clock.ts";
import type { Receiver } from "../world/receiver.ts";
import { hangs, lostIn } from "../judging/pushes/journal.ts";
import type { LostConnection, SeenPush } from "../judging/pushes/trace.ts";
import type { Timeline } from "./timeline.ts";

type Arrival = Omit<SeenPush, "action">;

/** Bounds the memory that a flood of connections can take. */
const MOST_LOST = 50_000;

/** What a target last said about its pushes under way; `none` if it does not say, or if something has happened since. */
export type UnderWayReport = "settled" | "under way" | "none";

/** Fetches the receiver's journal lines and dates each of them to an interval. */
export interface Collector {
  /**
   * Reads what has come since the last look, at `now` or later. Returns the number of lines; pushes of other users'
   * events do not count, or a busy neighbour would be waited for for ever.
   */
  collect(now?: TimeInterval): Promise<number>;
  /** Continues the same look: waits up to `waitMs` in real time for more lines. */
  collectMore(waitMs: number): Promise<number>;
  /** Whatever has ended since the last call was noticed by its sender no later than `now`; without `now`, at once. */
  settle(now?: TimeInterval): void;
  /** All pushes so far, in journal order. */
  arrivals(): readonly Arrival[];
  /** Number of pushes left unanswered that their sender is still waiting on. */
  hanging(): number;
  /** Changes whenever the arrivals change. */
  revision(): number;
  /** Connections from which no push could be read. */
  lost(): readonly LostConnection[];
  /** Number of the last line read. */
  last(): number;
}

/** If the receiver itself ends the connection, it ends as soon as the push is complete. */
const endedOf = (
  { action, answeredMs, completeMs, uncertaintyMs }: Arrival["line"],
  seen: TimeInterval,
  timeline: Timeline,
): TimeInterval | undefined => {
  const endedMs = answeredMs ?? (action === "hang" || action === "answer" ? undefined : completeMs);
  return endedMs === undefined ? undefined : (timeline.momentOf(endedMs, uncertaintyMs) ?? seen);
};

/** Collects pushes and lost connections from journal lines. */
const createArrivals = (timeline: Timeline) => {
  const all: Arrival[] = [];
  const byNumber = new Map<number, number>();
  const lost: LostConnection[] = [];
  let hanging = 0;
  /** Arrivals whose end was noted since everything last settled. */
  let unsettled = new Set<number>();

  const notePush = (line: Arrival["line"], seen: TimeInterval): void => {
    const at = timeline.momentOf(line.firstByteMs, line.uncertaintyMs) ?? seen;
    const ended = endedOf(line, seen, timeline);
    const index = all.push({ line, at, ended }) - 1;
    if (hangs(line)) hanging += 1;
    byNumber.set(line.n, index);
    if (ended !== undefined) unsettled.add(index);
  };

  const noteAnswered = (line: Extract<PushLine, { kind: "answered" }>, seen: TimeInterval): void => {
    const index = byNumber.get(line.push) ?? -1;
    const arrival = all[index];
    if (arrival === undefined) return;
    const ended = timeline.momentOf(line.answeredMs, line.uncertaintyMs) ?? seen;
    const { answeredMs, outcome } = line;
    if (hangs(arrival.line)) hanging -= 1;
    all[index] = { ...arrival, ended, line: { ...arrival.line, answeredMs, outcome } };
    unsettled.add(index);
  };

  return {
    all,
    lost,
    hanging: () => hanging,
    ofPush: (n: number) => all[byNumber.get(n) ?? -1],
    note: (line: PushLine, seen: TimeInterval): void => {
      if (lost.length < MOST_LOST)
        lost.push(...lostIn(line, (receiverMs) => timeline.momentOf(receiverMs, 0) ?? seen));
      if (line.kind === "push") notePush(line, seen);
      if (line.kind === "answered") noteAnswered(line, seen);
    },
    /**
     * Everything that has ended was noticed by its sender by then. If `isPassedOver`, the clock was moved while a sender
     * may still have waited for one of these ends. Returns how many ends that changes.
     */
    settle: (latestMs: number, isPassedOver: boolean): number => {
      let changed = 0;
      for (const index of unsettled) {
        const arrival = all[index];
        if (arrival?.ended === undefined) continue;
        const isLater = arrival.ended.latestMs < latestMs;
        const ended = isLater ? { ...arrival.ended, latestMs } : arrival.ended;
        all[index] = { ...arrival, ended, ...(isPassedOver ? { isPassedOver } : {}) };
        changed += Number(isLater);
      }
      unsettled = new Set();
      return changed;
    },
  };
};

const concernsUs = (
  line: PushLine,
  arrivals: Pick<ReturnType<typeof createArrivals>, "ofPush">,
  isOurs: (accountId: string | undefined) => boolean,
): boolean => {
  if (line.kind === "push") return isOurs(line.accountId);
  return line.kind !== "answered" || isOurs(arrivals.ofPush(line.push)?.line.accountId);
};

/**
 * On a virtual clock the receiver's timestamps say nothing about the target's time: a push that is new in this look
 * arrived between the previous look and this one. Unless the target reported at the previous look that nothing was in
 * flight, it may have been sent even earlier, so its interval begins one look before that.
 */
export const createCollector = async (
  receiver: Receiver,
  timeline: Timeline,
  onLine: (line: PushLine) => void,
  report: () => UnderWayReport,
  isOurs: (accountId: string | undefined) => boolean = () => true,
): Promise<Collector> => {
  const { epoch, last: first } = await receiver.state();
  const arrivals = createArrivals(timeline);
  let last = first;
  let looked = await timeline.now();
  let [from, before] = [looked, looked];
  let wasSettled = false;
  /** Whether something was still under way when the clock had been moved for this look. */
  let wasUnderWay = false;
  let revision = 0;

  const read = async (waitMs: number): Promise<{ readonly lines: number; readonly ours: number }> => {
    const lines = await receiver.pushes({ epoch, last }, waitMs);
    if (lines.length === 0) return { lines: 0, ours: 0 };
    const { latestMs } = await timeline.now();
    revision += 1;
    for (const line of lines) {
      onLine(line);
      arrivals.note(line, { earliestMs: from.earliestMs, latestMs });
    }
    last = Math.max(last, ...lines.map(({ n }) => n));
    return { lines: lines.length, ours: lines.filter((line) => concernsUs(line, arrivals, isOurs)).length };
  };

  return {
    collect: async (now) => {
      from = wasSettled ? looked : before;
      before = looked;
      wasSettled = report() === "settled";
      looked = now ?? (await timeline.now());
      const { ours } = await read(0);
      wasUnderWay = report() === "under way";
      return ours;
    },
    collectMore: async (waitMs) => {
      const untilMs = monotonicMs() + waitMs;
      for (let leftMs = waitMs; ; leftMs = untilMs - monotonicMs()) {
        const { lines, ours } = await read(Math.max(0, Math.ceil(leftMs)));
        if (ours > 0 || lines === 0 || leftMs <= 0) return ours;
      }
    },
    settle: (now) => {
      if (timeline.kind === "real") return;
      revision += arrivals.settle(now?.latestMs ?? -Infinity, wasUnderWay);
    },
    arrivals: () => arrivals.all,
    hanging: arrivals.hanging,
    revision: () => revision,
    lost: () => arrivals.lost,
    last: () => last,
  };
};

/** The planned action for this push of a notification; the last one repeats. */
export const actionFor = (actions: readonly PushAction[], attempt: number): PushAction | undefined =>
  actions[Math.min(attempt, actions.length) - 1];
