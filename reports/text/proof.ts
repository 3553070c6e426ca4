import { duration, SECOND_MS } from "../../conformance/contract/duration.ts";
import { endpoints } from "../../conformance/contract/forms.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { pathIn } from "../../conformance/contract/text.ts";

/** Whether the request of an exchange is the service's own. Records did not always say so. */
export const isPush = ({ isPush: said, rule, request }: ExchangeRecord): boolean =>
  said ??
  (rule.startsWith("push.") &&
    !Object.values(endpoints).some(({ path }) => pathIn(request.path).endsWith(path)));

/**
 * When each exchange of a proof was sent, in milliseconds of the service's time on any scale; undefined where nothing tells.
 * In real time this machine's clock tells. If the service's clock is moved, that says nothing: then the recorded readings
 * count or, in a record without them, the timestamps in answers.
 */
export const sentMs = (
  exchanges: readonly ExchangeRecord[],
  isRealTime: boolean,
): readonly (number | undefined)[] => {
  if (isRealTime)
    // The receiver of pushes counts from another moment than the run.
    return new Set(exchanges.map(isPush)).size > 1
      ? exchanges.map(() => undefined)
      : exchanges.map(({ startedMs }) => startedMs);
  const read = exchanges.map(({ clockMs }) => clockMs);
  return enclosed(read.some((ms) => ms !== undefined) ? read : exchanges.map(toldBy));
};

/** What lies between two equal moments was sent at that moment, too. */
const enclosed = (moments: readonly (number | undefined)[]): readonly (number | undefined)[] => {
  const before = moments.map((_, at) => moments.slice(0, at + 1).findLast((ms) => ms !== undefined));
  const after = moments.map((_, at) => moments.slice(at).find((ms) => ms !== undefined));
  return moments.map((ms, at) => ms ?? (before[at] === after[at] ? before[at] : undefined));
};

const toldBy = ({ answer }: ExchangeRecord): number | undefined => {
  const found = /"timestamp":\s*(\d{12,14})\b/.exec(answer?.text ?? "")?.[1];
  return found === undefined ? undefined : Number(found);
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
