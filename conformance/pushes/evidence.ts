import type { ExchangeRecord } from "../contract/record.ts";
import type { SeenPush } from "../judging/pushes/trace.ts";

/**
 * A push as an exchange of the record: the request is the service's, the answer the receiver's. Times are the receiver's
 * own; if the target's clock is moved, that is given as well, as of the latest moment at which the push can have come:
 * what is due when the clock is moved comes after the move.
 */
export const asExchange = (
  n: number,
  { line, action, at }: SeenPush,
  isMoved: boolean,
): Omit<ExchangeRecord, "rule"> => {
  const endMs = line.answeredMs ?? line.completeMs;
  return {
    n,
    startedMs: line.firstByteMs,
    durationMs: Math.max(0, endMs - line.firstByteMs),
    ...(isMoved && Number.isFinite(at.latestMs) ? { clockMs: Math.round(at.latestMs) } : {}),
    isPush: true,
    request: { method: line.method, path: line.path, headers: line.headers, body: line.body },
    ...(line.status === undefined
      ? { error: howItEnded(line.action) }
      : { answer: { status: line.status, headers: [], text: bodyOf(action) } }),
  };
};

const howItEnded = (action: SeenPush["line"]["action"]): string =>
  ({
    answer: "the receiver's answer was cut off",
    hang: "the receiver gave no answer, as planned",
    close: "the receiver closed the connection, as planned",
    reset: "the receiver reset the connection, as planned",
    "not-a-push": "the receiver did not recognize it as a push",
    "too-large": "the request was too large for the receiver",
  })[action];

const bodyOf = (action: SeenPush["action"]): string => {
  if (action?.kind !== "answer") return "";
  const body = action.body ?? "acknowledge";
  if (body === "acknowledge") return "(the acknowledgement)";
  return typeof body === "string" ? `(${body})` : JSON.stringify(body);
};
