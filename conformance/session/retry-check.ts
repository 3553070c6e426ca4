import { duration } from "../contract/duration.ts";
import type { Check } from "../contract/check.ts";
import type { JournalMark, PushLine } from "../contract/push.ts";
import { allowedLatenessMs, pushToleranceOf } from "../judging/pushes/readings.ts";
import { pushRunMs } from "../pushes/span.ts";
import { monotonicMs, type Clock } from "../world/clock.ts";
import type { Prepared } from "../world/world.ts";
import type { Receiver } from "../world/receiver.ts";
import type { Session } from "./session.ts";

/** A first push that the receiver failed. */
export interface Failed {
  readonly after: Pick<JournalMark, "epoch" | "last">;
  /** How long it took in real time, in milliseconds. */
  readonly lagMs: number;
  readonly isOf: (line: Extract<PushLine, { kind: "push" }>) => boolean;
}

/** How long a retry that is due on a moved clock is waited for in real time before that is moved on, in milliseconds. */
const LOOK_MS = 1_500;
/** At most this share of the first delay: as much real time must not make a retry due. */
const MOST_LOOK = 1 / 4;
/** A sender whose first push was slow in real time gets this many times as long. */
const SLOW = 5;

export interface CheckedRetry {
  readonly checks: readonly Check[];
  readonly unmovedRetries?: Prepared["unmovedRetries"];
  /** How long it took in real time once the clock had been moved, in milliseconds; undefined unless it followed that. */
  readonly lagMs?: number;
}

/**
 * Whether the sender's retries follow the clock that is moved, by one of them: a queue may wait in a process or a database
 * whose clock nobody moves, or look at it only once some real time has passed. A retry that comes only then shows that. One
 * that comes by neither clock may be missing, which is left to the rules.
 */
export const checkRetry = async (
  session: Session,
  receiver: Receiver,
  clock: Clock,
  { after, isOf, lagMs }: Failed,
): Promise<CheckedRetry> => {
  const { limits, resolved } = session;
  if (!awaitsRetry(session)) return { checks: [] };
  const check = "retries";
  const { latenessMs } = resolved.profile.tolerances ?? {};
  const tolerance = pushToleranceOf(limits, "virtual", latenessMs);
  const [firstMs = 0, secondMs = firstMs] = limits.pushDelaysMs;
  const repeated = "a failed push was repeated once the clock had been moved";
  const startedMs = monotonicMs();
  let last = after.last;
  const look = async (waitMs: number): Promise<boolean> => {
    const lines = await receiver.pushes({ ...after, last }, waitMs);
    last = lines.at(-1)?.n ?? last;
    return lines.some((line) => line.kind === "push" && isOf(line));
  };
  /** Looks until then, or until it comes. */
  const lookFor = async (forMs: number): Promise<boolean> => {
    for (const untilMs = monotonicMs() + forMs; monotonicMs() < untilMs;)
      if (await look(Math.max(0, Math.ceil(untilMs - monotonicMs())))) return true;
    return false;
  };
  const lookMs = Math.min(Math.max(LOOK_MS, SLOW * lagMs), MOST_LOOK * firstMs);
  // The first retry of one reading is due as long after the first push as the second one of another.
  let movedMs = 0;
  for (const delayMs of [firstMs, secondMs - firstMs]) {
    const stepMs = delayMs + allowedLatenessMs(delayMs, tolerance);
    await clock.sleep(stepMs);
    movedMs += stepMs;
    const sinceMs = monotonicMs();
    if ((await lookFor(lookMs)) || ((await isUnderWay(session)) && (await lookFor(firstMs * MOST_LOOK))))
      return { checks: [{ check, ok: true, message: repeated }], lagMs: monotonicMs() - sinceMs };
  }
  const passedMs = (): number => monotonicMs() - startedMs;
  if (!(await lookFor(firstMs + tolerance.latenessMs - passedMs())))
    return {
      checks: [{ check, ok: "skipped", message: "a failed push was not repeated, on either clock" }],
    };
  const message = `the sender's retries do not follow the clock at once when it is moved: one came after ${duration(passedMs())} of real time, though the clock had been moved by ${duration(movedMs)}`;
  const remedy = `${howToFollow(session)}, or \`hooks.clock.pushes: "real"\`, with which pushes are judged in real time (${duration(pushRunMs(limits, latenessMs))})`;
  return {
    checks: [{ check, ok: false, message, remedy }],
    unmovedRetries: { reason: message, settle: remedy },
  };
};

/** Whether a retry is awaited: not by a clock that is not moved for pushes, nor of the embedded service, which has but one. */
export const awaitsRetry = ({ pushClocks, resolved }: Pick<Session, "pushClocks" | "resolved">): boolean =>
  pushClocks.kind === "virtual" && resolved.inProcessHooks === undefined;

/** Whether the target reports that a push is under way, without its clock being moved. */
export const isUnderWay = async ({ clocks }: Pick<Session, "clocks">): Promise<boolean> =>
  (await clocks.askUnderWay?.()) === true && (clocks.underWay?.()?.inFlight ?? 0) > 0;

const howToFollow = ({ resolved }: Session): string =>
  resolved.profile.hooks?.clock?.faketime === undefined
    ? "let hooks.clock.advance move the clock of the sender's worker and queue too"
    : "run the sender's worker and queue under libfaketime too, with or without FAKETIME_DONT_FAKE_MONOTONIC as its runtime needs it (docs/how-to/staging-clock.md)";
