import type { ClockReading } from "../../../conformance/contract/segments.ts";

/** An answer with a Date, and between which readings of this machine's clock it was asked for and came. Milliseconds since 1970. */
export interface DateLook {
  readonly sentMs: number;
  readonly receivedMs: number;
  /** The Date of the answer: whole seconds. */
  readonly dateMs: number;
}

/** Backends whose clocks differ by less than this are taken as one, and the difference as error. */
const MOST_DISAGREEMENT_MS = 100;

/** The offsets (target's clock less this machine's) that a look leaves open: a Date is its second, cut off. */
const boundsOf = ({ sentMs, receivedMs, dateMs }: DateLook) => ({
  leastMs: dateMs - receivedMs,
  mostMs: dateMs + 1_000 - sentMs,
});

/** What all looks leave open together; `leastMs` above `mostMs` where they contradict each other. */
export const openBounds = (
  looks: readonly DateLook[],
): { readonly leastMs: number; readonly mostMs: number } => {
  const bounds = looks.map(boundsOf);
  return {
    leastMs: Math.max(...bounds.map(({ leastMs }) => leastMs)),
    mostMs: Math.min(...bounds.map(({ mostMs }) => mostMs)),
  };
};

/**
 * The offset with its bound. Without a daemon a clock can be read from answers alone: a client that sees the Date
 * change from one second to the next knows the target's clock to within the time that the answers took.
 */
export const offsetFrom = (looks: readonly DateLook[], failure?: string): ClockReading => {
  if (looks.length === 0) return { looks: 0, unknown: failure ?? "no answer had a Date" };
  const { leastMs, mostMs } = openBounds(looks);
  const disagreementMs = leastMs - mostMs;
  if (disagreementMs > MOST_DISAGREEMENT_MS)
    return {
      looks: looks.length,
      unknown: `answers disagree by ${Math.round(disagreementMs)} ms, as those of several machines with different clocks do`,
    };
  return {
    offsetMs: (leastMs + mostMs) / 2,
    errorMs: Math.abs(mostMs - leastMs) / 2,
    looks: looks.length,
  };
};

/** When to look next: as the target's clock goes from one second to the next, by the middle of what is still open. */
export const nextEdgeMs = (looks: readonly DateLook[], nowMs: number): number => {
  const { leastMs, mostMs } = openBounds(looks);
  const offsetMs = (leastMs + mostMs) / 2;
  return Math.ceil((nowMs + offsetMs) / 1_000) * 1_000 - offsetMs;
};
