import { duration, SECOND_MS } from "../../conformance/contract/duration.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";

/**
 * When each exchange of a proof was sent, in milliseconds of the service's time on any scale; undefined where nothing tells.
 * In real time this machine's clock tells; if the service's clock is moved, the recorded readings do.
 */
const sentMs = (
  exchanges: readonly ExchangeRecord[],
  isRealTime: boolean,
): readonly (number | undefined)[] => {
  if (isRealTime)
    // The receiver of pushes counts from another moment than the run.
    return new Set(exchanges.map(({ isPush }) => isPush === true)).size > 1
      ? exchanges.map(() => undefined)
      : exchanges.map(({ startedMs }) => startedMs);
  return enclosed(exchanges.map(({ clockMs }) => clockMs));
};

/** What lies between two equal moments was sent at that moment, too. */
const enclosed = (moments: readonly (number | undefined)[]): readonly (number | undefined)[] => {
  const before = moments.map((_, at) => moments.slice(0, at + 1).findLast((ms) => ms !== undefined));
  const after = moments.map((_, at) => moments.slice(at).find((ms) => ms !== undefined));
  return moments.map((ms, at) => ms ?? (before[at] === after[at] ? before[at] : undefined));
};

/**
 * How long after the first exchange of a proof the later ones were sent, such as "+10 min", by their numbers. What was sent
 * within a second of it is left out.
 */
export const laterBy = (
  exchanges: readonly ExchangeRecord[],
  isRealTime: boolean,
): ReadonlyMap<number, string> => {
  const moments = sentMs(exchanges, isRealTime);
  const [first] = moments;
  return new Map(
    exchanges.flatMap(({ n }, at) => {
      const passedMs = (moments[at] ?? NaN) - (first ?? NaN);
      return passedMs >= SECOND_MS ? [[n, `+${duration(passedMs)}`] as const] : [];
    }),
  );
};
