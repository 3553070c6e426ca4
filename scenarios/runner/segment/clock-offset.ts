import type { ClockReading } from "../../../conformance/contract/segments.ts";

/**
 * An answer with a Date, and this machine's clock readings before the request and after the answer. Milliseconds since
 * 1970.
 */
export interface DateLook {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** The Date of the answer: whole seconds. */
  readonly dateMs: number;
}

/** Backends whose clocks differ by less count as one, and the difference as error. */
const MOST_DISAGREEMENT_MS = 100;

/**
 * Bounds of the offset (target's clock minus this machine's) given all answers: a Date is truncated to its second.
 * `leastMs` exceeds `mostMs` if answers contradict each other.
 */
export const openBounds = (
  looks: readonly DateLook[],
): { readonly leastMs: number; readonly mostMs: number } => ({
  leastMs: Math.max(...looks.map(({ dateMs, receivedMs }) => dateMs - receivedMs)),
  mostMs: Math.min(...looks.map(({ dateMs, sentMs }) => dateMs + 1_000 - sentMs)),
});

/**
 * The offset with its error. Answers are enough to read a clock: a client that sees the Date change from one second to
 * the next knows the target's clock to within the time the answers took.
 */
export const offsetFrom = (looks: readonly DateLook[], failure?: string): ClockReading => {
  if (looks.length === 0) return { looks: 0, unknown: failure ?? "no answer had a Date" };
  const { leastMs, mostMs } = openBounds(looks);
  const disagreementMs = leastMs - mostMs;
  if (disagreementMs > MOST_DISAGREEMENT_MS)
    return {
      looks: looks.length,
      unknown: `answers disagree by ${Math.round(disagreementMs)} ms, like those of several machines with different clocks`,
    };
  return {
    offsetMs: (leastMs + mostMs) / 2,
    errorMs: Math.abs(mostMs - leastMs) / 2,
    looks: looks.length,
  };
};

/**
 * When to send the next request: when the target's clock reaches the next second, by the middle of the remaining
 * bounds.
 */
export const nextEdgeMs = (looks: readonly DateLook[], nowMs: number): number => {
  const { leastMs, mostMs } = openBounds(looks);
  const offsetMs = (leastMs + mostMs) / 2;
  return Math.ceil((nowMs + offsetMs) / 1_000) * 1_000 - offsetMs;
};
