import { between, type TimeInterval, greatest } from "../interval.ts";
import { answerOf, outcomeOf, isAcknowledged } from "./answer.ts";
import { isOpenAt, mayHaveTimedOut, pushedOf } from "./cases.ts";
import type { PushCase, PushTrace, SeenPush } from "./trace.ts";
import { readingsOf } from "./readings.ts";

export type Trace = Pick<PushTrace, "pushCases" | "limits" | "acknowledgedStatus">;

/** Notifications whose pushes show the schedule: each push failed at once, until acknowledged if ever. */
export const timedCases = (trace: Trace): readonly PushCase[] =>
  pushedOf({ pushCases: fromTheirTurn(trace) }, "never", "late");

/** An event whose pushes waited their turn behind others of its account, as if it had happened with its first push. */
interface Waited extends PushCase {
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

/**
 * What the end of a push means for the next one. After `failed` another has to follow, after `acknowledged` none may. The
 * rest is `open`: the sender may still wait for an answer, or may have given up before the acknowledgement came, or the
 * document does not say what the answer means.
 */
export type Ending = "failed" | "acknowledged" | "open";

/** A push of a notification that came. */
export interface Arrival {
  readonly push: SeenPush;
  readonly at: TimeInterval;
  /** When it was over for its sender; undefined if unknown. */
  readonly ended: TimeInterval | undefined;
  readonly ending: Ending;
  /** It came while an earlier one was open over which the clock was moved: its sender may have given that to another worker. */
  readonly isBeside: boolean;
  /** That, or it came after an acknowledgement: no schedule says when. */
  readonly isExtra: boolean;
}

/** What is known of one notification, whatever its sender does. */
export interface Journal {
  readonly pushCase: PushCase;
  /** When its event was triggered; up to its first push if that had to wait for other events of its account. */
  readonly event: TimeInterval;
  readonly arrivals: readonly Arrival[];
}

/** Whether none of its pushes is acknowledged, and all fail plainly. */
export const isNever = ({ pushCase }: Pick<Journal, "pushCase">): boolean => pushCase.purpose === "never";

export const journalsOf = (trace: PushTrace): readonly Journal[] => {
  const timeout = timeoutOf(trace);
  const bodyCounts = bodyDecides(trace);
  return fromTheirTurn(trace).map((pushCase, index) => {
    const { triggered } = trace.pushCases[index] ?? pushCase;
    let isOver = false;
    const arrivals = pushCase.pushes.map((push, at): Arrival => {
      const left = at === pushCase.pushes.length - 1 ? leftOpen(push, timeout, trace) : undefined;
      const ending = left === undefined ? endingOf(push, pushCase, trace, bodyCounts) : "failed";
      const isBeside = pushCase.pushes.slice(0, at).some((one) => isOpenAt(one, push, trace));
      const ended = left ?? endOf(push, timeout);
      const arrival = { push, at: push.at, ended, ending, isBeside, isExtra: isOver || isBeside };
      isOver ||= ending === "acknowledged";
      return arrival;
    });
    const event = { earliestMs: triggered.earliestMs, latestMs: pushCase.triggered.latestMs };
    return { pushCase, event, arrivals };
  });
};

/** The end of a push that the sender gave up is known as well as the sender's timeout, if not better. */
const endOf = (
  { at, ended, line }: SeenPush,
  timeout: TimeInterval | undefined,
): TimeInterval | undefined => {
  if (ended === undefined || timeout === undefined || line.action !== "hang" || line.outcome !== "abandoned")
    return ended;
  const within = (ms: number): number => Math.max(ended.earliestMs, Math.min(ended.latestMs, ms));
  return {
    earliestMs: within(at.earliestMs + timeout.earliestMs),
    latestMs: within(at.latestMs + timeout.latestMs),
  };
};

/** No sender leaves a push open for so many times as long as it waits for others. */
const FOR_GOOD = 10;

/** When a sender that gave up on other pushes must have given up on the last one, which it left open; in real time, as sockets do. */
const leftOpen = (
  { at, line }: SeenPush,
  timeout: TimeInterval | undefined,
  { clock, watchedUntil }: PushTrace,
): TimeInterval | undefined => {
  if (clock !== "real" || line.action !== "hang" || line.outcome !== undefined || timeout === undefined)
    return undefined;
  const latestMs = at.latestMs + FOR_GOOD * timeout.latestMs;
  return latestMs > watchedUntil.earliestMs
    ? undefined
    : { earliestMs: at.earliestMs + timeout.earliestMs, latestMs };
};

/** How long the sender waits for an answer: what all its waits have in common, or else all that they allow. */
const timeoutOf = ({ pushCases }: Pick<PushTrace, "pushCases">): TimeInterval | undefined => {
  const waits = pushCases
    .flatMap(({ pushes }) => pushes)
    .flatMap(({ at, ended, line }) =>
      line.action === "hang" &&
      line.status === undefined &&
      line.outcome === "abandoned" &&
      ended !== undefined
        ? [between(at, ended)]
        : [],
    );
  if (waits.length === 0) return undefined;
  const [least, most] = [waits.map(({ earliestMs }) => earliestMs), waits.map(({ latestMs }) => latestMs)];
  const common = { earliestMs: Math.max(...least), latestMs: Math.min(...most) };
  return common.earliestMs <= common.latestMs
    ? common
    : { earliestMs: Math.min(...least), latestMs: Math.max(...most) };
};

const endingOf = (push: SeenPush, { expect }: PushCase, trace: PushTrace, bodyCounts: boolean): Ending => {
  const { line } = push;
  // The receiver ended it, or nobody did: its sender may still wait.
  if (line.action === "hang" && line.outcome !== "abandoned") return "open";
  const outcome = outcomeOf(answerOf(push), trace.acknowledgedStatus);
  if (outcome === "acknowledged" && mayHaveTimedOut(push, trace) !== undefined) return "open";
  const isHalf = expect.kind === "open" && expect.unlessBodyDecides === true;
  return outcome === "open" && bodyCounts && isHalf ? "failed" : outcome;
};

/**
 * Whether bodies that confirm nothing made the expected code count as a failure. Only then is half an answer with that code
 * a failure: a push is unsuccessful if the expected code is not received (section 6), and half an answer carries it.
 */
const bodyDecides = ({ pushCases }: Pick<PushTrace, "pushCases">): boolean => {
  const empty = pushCases.filter(({ expect }) => expect.kind === "open" && expect.saysNothing);
  return empty.length > 0 && empty.every(({ pushes }) => pushes.length > 1);
};
