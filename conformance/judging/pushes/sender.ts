import { greatest, type TimeInterval, merged } from "../interval.ts";
import { tolerances } from "../tolerances.ts";
import { journalsOf, type Arrival, type Journal } from "./arrivals.ts";
import { explain, type Explanation, type Hypothesis, type Surroundings } from "./explain.ts";
import { blindOf, type Blind } from "./blind.ts";
import { anchors, readingsOf } from "./readings.ts";
import { isSilentFirst, startsAnswer, type PushRun, type PushTrace, type Purpose } from "./trace.ts";

/** A trace with what only the gate knows of it. */
export type Watched = PushTrace & Partial<Omit<PushRun, keyof PushTrace>>;

/** All notifications of a trace by one hypothesis. */
export interface Explained {
  readonly hypothesis: Hypothesis;
  /** In the order of the trace. */
  readonly explanations: readonly Explanation[];
  /** Those of notifications whose moments count. */
  readonly timed: readonly Explanation[];
  readonly flawed: readonly Explanation[];
}

/** A sender: the hypothesis that explains its notifications best, and all others. */
export interface Sender {
  readonly best: Explained;
  readonly all: readonly Explained[];
  /** Those by which no notification has a flaw. */
  readonly allowed: readonly Explained[];
  readonly around: Surroundings;
  /** The same notifications by any hypothesis. */
  readonly explainedBy: (hypothesis: Hypothesis) => Explained;
}

/**
 * The moments of these count. Others were acknowledged at once, were pushed while the receiver showed an untrusted
 * certificate, or had an answer that the document leaves open.
 */
const timedPurposes: ReadonlySet<Purpose> = new Set<Purpose>(["never", "late", "silent", "refused"]);

const isTimed = (
  { pushCase, arrivals }: Journal,
  { blind, trace }: { readonly blind: readonly Blind[]; readonly trace: Watched },
): boolean => {
  const { purpose } = pushCase;
  if (arrivals.length === 0 || !timedPurposes.has(purpose) || startsAnswer(pushCase)) return false;
  // How many of its pushes met the closed receiver is known only if that was closed for longer than a push takes.
  if (purpose === "refused") return blind.some(({ kind }) => kind === "outage");
  return !(trace.hungInRealTime === true && isSilentFirst(pushCase));
};

export const hypothesesOf = (limits: PushTrace["limits"]): readonly Hypothesis[] =>
  readingsOf(limits).flatMap((reading) => anchors.map((anchor) => ({ reading, anchor })));

/** By trace, since several rules ask. */
const senders = new WeakMap<PushTrace, Sender>();

export const senderOf = (trace: Watched): Sender => {
  const known = senders.get(trace);
  if (known !== undefined) return known;
  const sender = findSender(trace);
  senders.set(trace, sender);
  return sender;
};

const findSender = (trace: Watched): Sender => {
  const journals = journalsOf(trace);
  const around = surroundingsOf(trace, journals);
  const [lost, outages] = [lostOf(around.blind), around.blind.filter(({ kind }) => kind === "outage")];
  const unlost = { ...around, blind: outages };
  const alike = firstsAlike(journals, around);
  const explainedBy = (hypothesis: Hypothesis, some = journals): Explained => {
    const explained = explainAll(some, hypothesis, around, alike);
    // As many pushes can be lost as connections broke.
    const isEnough = explained.reduce((sum, { lost }) => sum + lost, 0) <= lost.length;
    const explanations = isEnough ? explained : explainAll(some, hypothesis, unlost, alike);
    const timed = explanations.filter(({ journal }) => isTimed(journal, { blind: around.blind, trace }));
    return { hypothesis, explanations, timed, flawed: timed.filter(({ flaws }) => flaws.length > 0) };
  };
  const all = likely(hypothesesOf(trace.limits), journals, explainedBy);
  const [best] = all.toSorted(byFlaws);
  if (best === undefined) throw new Error("a schedule has readings");
  const allowed = all.filter(({ flawed }) => flawed.length === 0);
  return { best, all, allowed, around, explainedBy };
};

const costMs = ({ flawed }: Explained): number => flawed.reduce((sum, one) => sum + one.costMs, 0);

const byFlaws = (a: Explained, b: Explained): number =>
  a.flawed.length - b.flawed.length || costMs(a) - costMs(b);

/** More notifications than this are those of a load, of which so many tell what the sender does. */
const SAMPLE = 1_000;

/** All hypotheses; of many notifications, only those that a sample contradicts least, and least within the cap. */
const likely = (
  hypotheses: readonly Hypothesis[],
  journals: readonly Journal[],
  explainedBy: (hypothesis: Hypothesis, some?: readonly Journal[]) => Explained,
): readonly Explained[] => {
  if (journals.length <= SAMPLE) return hypotheses.map((one) => explainedBy(one));
  const failing = journals.filter(({ arrivals }) => arrivals[0]?.ending === "failed");
  // Without retries, all hypotheses are alike.
  if (failing.length === 0) return hypotheses.slice(0, 1).map((one) => explainedBy(one));
  const stride = Math.ceil(failing.length / SAMPLE);
  const sample = failing.filter((_, at) => at % stride === 0);
  const tried = hypotheses.map((one) => explainedBy(one, sample)).toSorted(byFlaws);
  const least = [tried[0], tried.find(({ hypothesis }) => hypothesis.reading.keepsCap)];
  return tried
    .filter(({ flawed }) => least.some((one) => one?.flawed.length === flawed.length))
    .map(({ hypothesis }) => explainedBy(hypothesis));
};

const lostOf = (blind: readonly Blind[]): readonly Blind[] => blind.filter(({ kind }) => kind === "lost");

const explainAll = (
  journals: readonly Journal[],
  hypothesis: Hypothesis,
  around: Surroundings,
  alike: ReadonlyMap<Journal, Journal>,
): readonly Explanation[] => {
  const explanations = new Map<Journal, Explanation>();
  return journals.map((journal): Explanation => {
    const first = alike.get(journal) ?? journal;
    const other = explanations.get(first);
    if (other !== undefined) return ofAnother(other, journal);
    const explanation = explain(journal, hypothesis, around);
    explanations.set(first, explanation);
    return explanation;
  });
};

/**
 * For each journal the first one that has the same explanation by every hypothesis: most of what is triggered together fails
 * together.
 */
export const firstsAlike = (
  journals: readonly Journal[],
  around: Pick<Surroundings, "blind">,
): ReadonlyMap<Journal, Journal> => {
  const firsts = new Map<string, Journal>();
  return new Map(
    journals.map((journal) => {
      const key = keyOf(journal, around);
      const first = firsts.get(key) ?? journal;
      firsts.set(key, first);
      return [journal, first];
    }),
  );
};

const keyOf = ({ event, arrivals }: Journal, { blind }: Pick<Surroundings, "blind">): string => {
  const lines = blind.flatMap(({ lines: between = [] }) => between);
  return JSON.stringify([
    event,
    ...arrivals.map(({ at, ended, ending, isExtra, push }) => [
      at,
      ended,
      ending,
      isExtra,
      lines.filter((line) => line < push.line.n).length,
    ]),
  ]);
};

/** The same explanation, of a notification whose journal has the same key. */
const ofAnother = (explanation: Explanation, journal: Journal): Explanation => {
  const { arrivals } = explanation.journal;
  const sends = explanation.sends.map((send) => {
    const arrival = send.arrival === undefined ? undefined : journal.arrivals[arrivals.indexOf(send.arrival)];
    return arrival === undefined ? send : { ...send, arrival };
  });
  return { ...explanation, journal, sends };
};

const surroundingsOf = (trace: Watched, journals: readonly Journal[]): Surroundings => {
  const busy = busyIn(journals, trace);
  const firsts = journals.flatMap(({ arrivals: [first] }) => (first === undefined ? [] : [first.at]));
  return {
    trace,
    blind: blindOf(trace),
    busy,
    // On a clock that is moved, a burst takes no time.
    queue: trace.clock === "real" ? merged([...busy, ...firsts]) : [],
    firstLatenessMs:
      trace.firstLatenessMs ??
      tolerances.firstPushLatenessShare.default * (trace.limits.pushDelaysMs[0] ?? 0),
  };
};

/** When a sender with few workers may have had none free. */
export const busyIn = (
  journals: readonly Journal[],
  { clock, latenessMs }: Pick<PushTrace, "clock" | "latenessMs">,
): readonly TimeInterval[] => {
  // Between two pushes that hold it, a worker makes those that waited.
  const nextMs = clock === "real" ? latenessMs / 4 : 0;
  return merged(heldIn(journals).map((one) => ({ ...one, latestMs: one.latestMs + nextMs })));
};

/** When each push that got no answer, or a late one, took a worker. Where no end was seen, as long as the longest one. */
const heldIn = (journals: readonly Journal[]): readonly TimeInterval[] => {
  const held = journals
    .flatMap(({ arrivals }) => arrivals)
    .filter(({ push: { line, action } }) => line.action === "hang" || takesLong(action));
  const waits = held.flatMap(({ at, ended }) =>
    ended === undefined ? [] : [ended.latestMs - at.earliestMs],
  );
  const longestMs = waits.length === 0 ? Infinity : greatest(0, waits);
  return held.map(({ at, ended }) => ({
    earliestMs: at.earliestMs,
    latestMs: ended?.latestMs ?? at.latestMs + longestMs,
  }));
};

const takesLong = (action: Arrival["push"]["action"]): boolean =>
  action?.kind === "answer" && (action.delayMs ?? 0) > 0;

/** The greatest lateness of pushes after plain failures, in milliseconds. */
export const latestMs = ({ timed }: Pick<Explained, "timed">): number =>
  greatest(
    0,
    timed
      .filter(({ journal: { pushCase } }) => pushCase.purpose === "never" || pushCase.purpose === "late")
      .flatMap(({ sends }) => sends)
      .flatMap(({ at, due, arrival }) =>
        arrival === undefined || due === undefined ? [] : [at.earliestMs - due.latestMs],
      ),
  );
