import { isAcknowledged } from "./answer.ts";
import { readingsOf } from "./readings.ts";
import type { PushCase, PushTrace } from "./trace.ts";

type Trace = Pick<PushTrace, "pushCases" | "limits" | "acknowledgedStatus">;

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
  return trace.pushCases.map((pushCase): PushCase | Waited => {
    const [first] = pushCase.pushes;
    if (pushCase.family === undefined || first === undefined) return pushCase;
    const before = (families.get(pushCase.family) ?? []).filter(
      ({ pushes: [other] }) => other !== undefined && other.line.n < first.line.n,
    );
    return waitedFor(pushCase, before, trace) ? { ...pushCase, waited: true, triggered: first.at } : pushCase;
  });
};

/**
 * An event that got no push, as if it had happened once the pushes of the others of its account were over: a sender that
 * delivers them one after the other cannot push it before. Undefined if they are not over.
 */
export const fromItsTurn = (
  pushCase: PushCase,
  ofAccount: readonly PushCase[],
  trace: Trace,
): PushCase | undefined => {
  const { triggered } = pushCase;
  const others = ofAccount.filter(({ pushes }) => pushes.length > 0);
  if (!others.every((other) => isOver(other, Infinity, trace))) return undefined;
  const ends = others.flatMap(({ pushes }) => pushes.map(({ at, ended = at }) => ended.latestMs));
  return { ...pushCase, triggered: { ...triggered, latestMs: Math.max(triggered.latestMs, ...ends) } };
};

/** Whether the others were all over before its first push, and a retry of one of them came after its event. */
const waitedFor = ({ triggered, pushes }: PushCase, others: readonly PushCase[], trace: Trace): boolean => {
  const n = pushes[0]?.line.n ?? -Infinity;
  const isBehind = others.some(
    (other) => other.pushes.length > 1 && (other.pushes.at(-1)?.at.earliestMs ?? 0) > triggered.latestMs,
  );
  return isBehind && others.every((other) => isOver(other, n, trace));
};

/** Whether a notification was acknowledged, or had all pushes of a reading, before this line of the journal. */
const isOver = (
  { pushes }: PushCase,
  n: number,
  { limits, acknowledgedStatus }: Pick<Trace, "limits" | "acknowledgedStatus">,
): boolean => {
  const least = Math.min(...readingsOf(limits).map((reading) => reading.pushes));
  return (
    pushes.every(({ line }) => line.n < n) &&
    (pushes.length >= least || pushes.some((push) => isAcknowledged(push, acknowledgedStatus)))
  );
};
