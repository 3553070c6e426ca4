import { shift, type TimeInterval } from "../interval.ts";
import type { Reading } from "./readings.ts";

/** What a delay is counted from: the moment at which a push began, or the one at which it had failed. */
export const anchors = ["start", "failure"] as const;
export type Anchor = (typeof anchors)[number];

/** As much of a notification's history as a prediction needs. */
export interface History {
  readonly triggered: TimeInterval;
  readonly pushes: readonly { readonly at: TimeInterval; readonly ended: TimeInterval | undefined }[];
}

/** A sender that gives up waits for at least so many of its first delays before it does, and for no more than that many. */
const SHORTEST_TIMEOUT = 1 / 30;
const LONGEST_TIMEOUT = 10;

/**
 * When the push with this index (from 0) is due after those before it, in a reading and with an anchor;
 * undefined where the reading has no such push. With delays from a push's start, the next one still may
 * wait until the push before it is over.
 */
export const dueOf = (
  reading: Reading,
  anchor: Anchor,
  index: number,
  { triggered, pushes }: History,
): TimeInterval | undefined => {
  const delay = reading.delaysMs[index];
  if (delay === undefined) return undefined;
  if (index === 0) return shift(triggered, delay);
  if (reading.from === "event") {
    // A sender that was late once, within what is allowed, may count on from there.
    const due = shift(triggered, delay);
    const previous = pushes[index - 1];
    const counted = (previous?.ended ?? previous?.at)?.latestMs ?? due.latestMs;
    return { ...due, latestMs: Math.max(due.latestMs, counted + delay - (reading.delaysMs[index - 1] ?? 0)) };
  }
  const base = pushes[reading.from === "first" ? 0 : index - 1];
  const before = pushes[index - 1];
  if (base === undefined || before === undefined) return undefined;
  const firstDelayMs = reading.delaysMs.find((one) => one > 0) ?? 0;
  const endOf = (push: (typeof pushes)[number]): TimeInterval =>
    push.ended ?? {
      earliestMs: push.at.earliestMs + firstDelayMs * SHORTEST_TIMEOUT,
      latestMs: push.at.latestMs + firstDelayMs * LONGEST_TIMEOUT,
    };
  const due = shift(anchor === "start" ? base.at : endOf(base), delay);
  return { earliestMs: due.earliestMs, latestMs: Math.max(due.latestMs, endOf(before).latestMs) };
};
