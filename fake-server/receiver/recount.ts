import type { PushLine } from "../../conformance/contract/push.ts";
import { type Attempts, keyOf } from "./attempts.ts";
import type { Arrival, Planner } from "./planner.ts";

type Line = Extract<PushLine, { kind: "push" }>;

/** What a line begins with; attempt and id come early, so that most lines need not be parsed. */
const START = /^\{[^{}]*?"attempt":(\d+),(?:"notificationId":"([^"\\]+)")?/;

/**
 * Takes up the count of a notification's pushes where an earlier process left it, and, for a plan that was given at
 * the start, which notification was the n-th.
 */
export const recount = (
  text: string,
  line: () => Line,
  attempts: Attempts,
  planner: Planner | undefined,
): void => {
  const [, attemptText, id] = START.exec(text) ?? [];
  const attempt = Number(attemptText);
  if (attempt === 0) return;
  if (id !== undefined && (planner === undefined || attempt !== 1)) {
    // A copy: a part of a string keeps all of it in memory, here whole stretches of the journal.
    attempts.set(Buffer.from(id).toString(), attempt);
    return;
  }
  const push = line();
  attempts.set(keyOf(push.notificationId, push.bodySha256), push.attempt);
  planner?.count(arrivalOf(push));
};

const arrivalOf = (push: Line): Arrival => ({
  method: push.method,
  path: push.path,
  pathname: push.path.replace(/\?.*$/s, ""),
  body: bodyIn(push.body),
  key: keyOf(push.notificationId, push.bodySha256),
  notificationId: push.notificationId,
  accountId: push.accountId,
  attempt: push.attempt,
});

const bodyIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
