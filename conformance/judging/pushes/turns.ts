import { greatest } from "../greatest.ts";
import { isAcknowledged } from "./answer.ts";
import { pushedOf } from "./cases.ts";
import { readingsOf } from "./readings.ts";
import type { PushCase, PushTrace } from "./trace.ts";

export type Trace = Pick<PushTrace, "pushCases" | "limits" | "acknowledgedStatus">;

/** Notifications whose pushes show the schedule: each push failed at once, until acknowledged if ever. */
export const timedCases = (trace: Trace): readonly PushCase[] =>
  pushedOf({ pushCases: fromTheirTurn(trace) }, "never", "late");

/** An event whose pushes waited their turn behind others of its account, as if it had happened with its first push. */
export interface Waited extends PushCase {
  readonly waited: true;
}

/** Whether only what follows a notification's first push is judged. */
export const hasWaited = (pushCase: PushCase): boolean => "waited" in pushCase;

/**
 * The same notifications, with those that waited counted from their first push. A sender may deliver the events of an
 * account one after the other: the document orders neither events nor first pushes, only the pushes of one notification.
 */
export const fromTheirTurn = (trace: Trace): readonly PushCase[] => {
  const families = Map.groupBy(trace.pushCases, ({ family }) => family);
  families.delete(undefined);
  const waited = new Set([...families.values()].flatMap((ofAccount) => waitingIn(ofAccount, trace)));
  return trace.pushCases.map((pushCase): PushCase | Waited => {
    const [first] = pushCase.pushes;
    return first !== undefined && waited.has(pushCase)
      ? { ...pushCase, waited: true, triggered: first.at }
      : pushCase;
  });
};

/**
 * Those of an account that waited: all that were pushed before were over before their first push, and a retry of one of
 * these came after their event. In one pass, because a load has thousands.
 */
const waitingIn = (ofAccount: readonly PushCase[], trace: Trace): readonly PushCase[] => {
  const least = leastPushes(trace);
  const firstN = ({ pushes }: PushCase): number => pushes[0]?.line.n ?? Infinity;
  let areOver = true;
  let [lastN, lastRetryMs] = [-Infinity, -Infinity];
  return ofAccount
    .filter(({ pushes }) => pushes.length > 0)
    .toSorted((a, b) => firstN(a) - firstN(b))
    .filter((one) => {
      const hasWaitedHere = areOver && lastN < firstN(one) && lastRetryMs > one.triggered.latestMs;
      areOver &&= isOver(one, least, trace);
      lastN = Math.max(lastN, ...one.pushes.map(({ line }) => line.n));
      if (one.pushes.length > 1) lastRetryMs = Math.max(lastRetryMs, one.pushes.at(-1)?.at.earliestMs ?? 0);
      return hasWaitedHere;
    });
};

/**
 * An event of this account that got no push, as if it had happened once the pushes of the others were over: a sender
 * that delivers them one after the other cannot push it before. Undefined if they are not over.
 */
export const itsTurnIn = (
  ofAccount: readonly PushCase[],
  trace: Trace,
): ((pushCase: PushCase) => PushCase | undefined) => {
  const pushed = ofAccount.filter(({ pushes }) => pushes.length > 0);
  const least = leastPushes(trace);
  if (!pushed.every((other) => isOver(other, least, trace))) return () => undefined;
  const ends = pushed.flatMap(({ pushes }) => pushes.map(({ at, ended = at }) => ended.latestMs));
  const overMs = greatest(-Infinity, ends);
  return (pushCase) => {
    const { triggered } = pushCase;
    return { ...pushCase, triggered: { ...triggered, latestMs: Math.max(triggered.latestMs, overMs) } };
  };
};

const leastPushes = ({ limits }: Pick<Trace, "limits">): number =>
  Math.min(...readingsOf(limits).map((reading) => reading.pushes));

/** Whether a notification was acknowledged, or had all pushes of the shortest reading. */
const isOver = (
  { pushes }: PushCase,
  least: number,
  { acknowledgedStatus }: Pick<Trace, "acknowledgedStatus">,
): boolean => pushes.length >= least || pushes.some((push) => isAcknowledged(push, acknowledgedStatus));
