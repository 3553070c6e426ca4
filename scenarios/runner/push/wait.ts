import type { PushPorts } from "../../../conformance/contract/push-ports.ts";
import { pushToleranceOf, watchMs } from "../../../conformance/judging/pushes/readings.ts";
import type { LoadContext } from "../context.ts";
import type { PushJournal } from "./journal.ts";
import type { Stop } from "./seen.ts";

/**
 * Step size while waiting for retries. On a moved clock, a push's time is known to within one step; after each, the
 * receiver's journal is read.
 */
const STEP_MS = 5_000;
const QUIET_MS = 300;

/** Reads the target's clock. */
export const stopNow = async (
  { clock }: Pick<LoadContext, "clock">,
  { targetClock }: Pick<PushPorts, "targetClock">,
): Promise<Stop> => {
  const earliestMs = clock.wallTime().getTime();
  const target = await targetClock.now();
  return { wall: { earliestMs, latestMs: clock.wallTime().getTime() }, target };
};

/**
 * Waits until no push can be due any more or the run is interrupted, and reads the journal to its end. Adds a stop for
 * each reading of a clock that is moved. Returns what failed meanwhile, a hook or the receiver, if one did.
 */
export const watchRetries = async (
  context: LoadContext,
  push: PushPorts,
  journal: PushJournal,
  stops: Stop[],
): Promise<string | undefined> => {
  let failed: string | undefined;
  let unread: string | undefined;
  try {
    await waitForRetries(context, push, journal, stops);
  } catch (error) {
    // An interruption also ends calls of hooks and sleeps of the target's clock.
    if (!context.signal.aborted) failed = `the run could not wait for retries: ${failureIn(push, error)}`;
  } finally {
    await journal.readAll().catch((error: unknown) => {
      unread = `the receiver's journal could not be read to its end: ${failureIn(push, error)}`;
    });
  }
  return failed ?? unread;
};

/** Throws what is a failure of the harness. */
const failureIn = (push: PushPorts, error: unknown): string => {
  const failure = push.failureOf(error);
  if (failure === undefined) throw error;
  return failure;
};

/**
 * Moves the target's clock, or waits, until one more push would be overdue in every reading, also beyond the cap. On
 * a real clock no stop is needed, because both clocks are the same.
 */
const waitForRetries = async (
  context: LoadContext,
  push: PushPorts,
  journal: PushJournal,
  stops: Stop[],
): Promise<void> => {
  const { target, signal } = context;
  const { targetClock, maxWaitMs } = push;
  const look = async (): Promise<void> => void stops.push(await stopNow(context, push));
  const { limits, profile } = target;
  const longestMs = watchMs(limits, pushToleranceOf(limits, "real", profile.tolerances?.latenessMs));
  await pause(context, QUIET_MS);
  if (targetClock.kind === "real") {
    for (let leftMs = Math.min(longestMs, maxWaitMs); leftMs > 0 && !signal.aborted; leftMs -= STEP_MS) {
      await pause(context, Math.min(leftMs, STEP_MS));
      await journal.follow();
    }
    return;
  }
  await look();
  // Pushes of a busy target may still be under way when the load ends.
  await settle(context, push);
  for (let waitedMs = 0; waitedMs < longestMs && !signal.aborted; waitedMs += STEP_MS) {
    await targetClock.sleep(STEP_MS);
    await settle(context, push);
    await look();
    await journal.follow();
  }
  await pause(context, QUIET_MS);
  await look();
};

/** Ends early if the run is interrupted. */
const pause = ({ clock, signal }: LoadContext, durationMs: number): Promise<void> =>
  clock.sleep(durationMs, signal).catch(() => undefined);

const SETTLE_MS = 50;
const MOST_SETTLES = 200;

/**
 * Waits until no push is in flight: moving the clock while a sender waits for an answer would make its next push late.
 * If the hook does not report pending pushes, waits until arrivals stop.
 */
const settle = async (context: LoadContext, { targetClock, receiver }: PushPorts): Promise<void> => {
  let last: number | undefined;
  for (let round = 0; round < MOST_SETTLES && !context.signal.aborted; round += 1) {
    const underWay = targetClock.inFlight();
    if (underWay === 0) return;
    await pause(context, underWay === undefined ? 2 * SETTLE_MS : SETTLE_MS);
    if (underWay === undefined) {
      const now = (await receiver.state()).last;
      if (now === last) return;
      last = now;
    } else await targetClock.sleep(1);
  }
};
