import type { LoadBreach, LoadRule } from "../../../conformance/contract/load-record.ts";
import { instantsOf, readingsOf, type Reading } from "../../../conformance/contract/readings.ts";
import type { Limits } from "../../../conformance/contract/limits.ts";
import type { Bracket } from "./timeline.ts";

/** An event that the service was asked for, and that it acknowledged. */
export interface TriggeredEvent {
  readonly notificationId: string;
  readonly accountId?: string;
  /** Since the start of the load, on this machine's clock. */
  readonly atMs: number;
  readonly target: Bracket;
}

/** A push as our receiver saw it. */
export interface SeenPush {
  readonly notificationId: string;
  readonly atMs: number;
  readonly target: Bracket;
  /** The documented fields of its body, as canonical JSON. */
  readonly fields: string;
  /** Whether it was answered as the document asks for, and the answer went out whole. */
  readonly acknowledged: boolean;
  /** What was done with it, in words. */
  readonly answered: string;
  /** How it came: method, path and body, for the proof. */
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface PushEvidence {
  readonly events: readonly TriggeredEvent[];
  readonly pushes: readonly SeenPush[];
  /** Where the target's clock stood when watching ended. */
  readonly watchedUntil: Bracket;
  readonly limits: Pick<Limits, "pushDelaysMs" | "maxPushes">;
  /** How late a push may be. */
  readonly latenessMs: number;
  readonly askedRateAt: (atMs: number) => number;
}

export interface PushJudgement {
  readonly rules: readonly LoadRule[];
  readonly breaches: readonly LoadBreach[];
  /** Readings of the schedule that all notifications fit. */
  readonly readings: readonly string[];
  /** Notifications by how often each was pushed. */
  readonly attempts: Readonly<Record<string, number>>;
}

interface Story {
  readonly event: TriggeredEvent;
  readonly pushes: readonly SeenPush[];
}

/** A push is early only beyond this, whatever the clocks say. */
const EARLY_MS = 50;
const LATE_SHARE = 0.15;

/** Judges the pushes of a load run: none lost, none beyond the cap, none after its acknowledgement, none changed, all on schedule. */
export const judgePushes = (evidence: PushEvidence): PushJudgement => {
  const byId = Map.groupBy(evidence.pushes, ({ notificationId }) => notificationId);
  const stories = evidence.events.map((event): Story => ({
    event,
    pushes: byId.get(event.notificationId) ?? [],
  }));
  const found = [
    delivered(stories, evidence),
    capped(stories, evidence),
    acknowledgedStops(stories, evidence),
    unchanged(stories, evidence),
    ...scheduled(stories, evidence),
  ];
  const attempts: Record<string, number> = {};
  for (const { pushes } of stories) attempts[pushes.length] = (attempts[pushes.length] ?? 0) + 1;
  return {
    rules: found.map(({ rule }) => rule),
    breaches: found.flatMap(({ breaches }) => breaches),
    readings: fittingReadings(stories, evidence).map(({ name }) => name),
    attempts,
  };
};

interface Found {
  readonly rule: LoadRule;
  readonly breaches: readonly LoadBreach[];
}

const found = (id: string, checks: number, breaches: readonly LoadBreach[], note?: string): Found => ({
  rule: { id, checks, breaches: breaches.length, ...(note === undefined ? {} : { note }) },
  breaches,
});

const breach = (
  rule: string,
  { event, pushes }: Story,
  { askedRateAt }: PushEvidence,
  expected: string,
  actual: string,
): LoadBreach => ({
  rule,
  atMs: pushes.at(-1)?.atMs ?? event.atMs,
  expected,
  actual: `notification ${event.notificationId}: ${actual}`,
  askedRate: askedRateAt(event.atMs),
  exchanges: pushes.map(({ method, path, body, answered }) => ({
    method,
    path,
    requestBody: body.slice(0, 400),
    status: 0,
    answer: answered,
    durationMs: 0,
  })),
});

/** A first push may take the first delay where a reading delays it, and as much more as a push may be late. */
const delivered = (stories: readonly Story[], evidence: PushEvidence): Found => {
  const { limits, latenessMs, watchedUntil } = evidence;
  const dueMs = (limits.pushDelaysMs[0] ?? 0) + latenessMs;
  const watched = stories.filter(
    ({ event, pushes }) => pushes.length > 0 || watchedUntil.earliestMs - event.target.latestMs > dueMs,
  );
  const lost = watched.filter(({ pushes }) => pushes.length === 0);
  const open = stories.length - watched.length;
  return found(
    "push.delivered",
    watched.length,
    lost.map((story) =>
      breach(
        "push.delivered",
        story,
        evidence,
        "every event is pushed",
        `no push within ${Math.round((watchedUntil.earliestMs - story.event.target.latestMs) / 1_000)} s of the event`,
      ),
    ),
    open === 0 ? undefined : `${open} events were not watched for long enough`,
  );
};

const capped = (stories: readonly Story[], evidence: PushEvidence): Found => {
  const { maxPushes } = evidence.limits;
  return found(
    "push.cap",
    stories.length,
    stories
      .filter(({ pushes }) => pushes.length > maxPushes)
      .map((story) =>
        breach("push.cap", story, evidence, `at most ${maxPushes} pushes`, `${story.pushes.length} pushes`),
      ),
  );
};

const acknowledgedStops = (stories: readonly Story[], evidence: PushEvidence): Found => {
  const acknowledged = stories.filter(({ pushes }) => pushes.some((push) => push.acknowledged));
  return found(
    "push.acknowledged-stops",
    acknowledged.length,
    acknowledged.flatMap((story) => {
      const at = story.pushes.findIndex((push) => push.acknowledged);
      const after = story.pushes.length - at - 1;
      return after === 0
        ? []
        : [
            breach(
              "push.acknowledged-stops",
              story,
              evidence,
              "no push after its acknowledgement",
              `acknowledged at push ${at + 1}, and pushed ${after} more`,
            ),
          ];
    }),
  );
};

const unchanged = (stories: readonly Story[], evidence: PushEvidence): Found => {
  const repeated = stories.filter(({ pushes }) => pushes.length > 1);
  return found(
    "push.same-notification",
    repeated.length,
    repeated
      .filter(({ pushes }) => new Set(pushes.map(({ fields }) => fields)).size > 1)
      .map((story) =>
        breach(
          "push.same-notification",
          story,
          evidence,
          "every push of a notification carries the same one",
          "its pushes differ",
        ),
      ),
  );
};

/** The schedule, and whether a push that failed was followed by the next one at all. */
const scheduled = (stories: readonly Story[], evidence: PushEvidence): readonly Found[] => {
  const failing = stories.filter(({ pushes }) => pushes[0]?.acknowledged === false);
  const readings = readingsOf(evidence.limits);
  const misfits = readings.map((reading) => ({
    reading,
    stories: failing.filter((story) => misfitOf(story, reading, evidence) !== undefined),
  }));
  const [best] = misfits.toSorted((a, b) => a.stories.length - b.stories.length);
  const allowed = misfits.filter((one) => one.stories.length === best?.stories.length);
  const lost = failing.filter((story) =>
    allowed.every(({ reading }) => isCutShort(story, reading, evidence)),
  );
  const open = failing.filter(({ event }) => !isWatched(event, evidence)).length;
  const note =
    open === 0 ? undefined : `${open} failing notifications were not watched to the end of their retries`;
  return [
    found(
      "push.unacknowledged-retries",
      failing.length,
      lost.map((story) =>
        breach(
          "push.unacknowledged-retries",
          story,
          evidence,
          "a push that failed is followed by the next one",
          `${story.pushes.length} pushes, none of them acknowledged, and no more`,
        ),
      ),
      note,
    ),
    found(
      "push.schedule",
      failing.reduce((sum, { pushes }) => sum + Math.max(0, pushes.length - 1), 0),
      (best?.stories ?? []).map((story) =>
        breach(
          "push.schedule",
          story,
          evidence,
          `pushes as one reading of the schedule has them (${best?.reading.name} fits best)`,
          misfitOf(story, best?.reading, evidence) ?? "",
        ),
      ),
      note,
    ),
  ];
};

const gapsOf = (reading: Reading): readonly number[] => {
  const instants = instantsOf(reading);
  return instants.slice(1).map((instant, index) => instant - (instants[index] ?? 0));
};

const allowedLateness = (gapMs: number, { latenessMs }: PushEvidence): number =>
  Math.max(latenessMs, LATE_SHARE * gapMs);

/** The first gap that cannot be the reading's, in words. */
const misfitOf = (
  { pushes }: Story,
  reading: Reading | undefined,
  evidence: PushEvidence,
): string | undefined => {
  if (reading === undefined) return undefined;
  const gaps = gapsOf(reading);
  for (const [index, push] of pushes.entries()) {
    const before = pushes[index - 1];
    const gapMs = gaps[index - 1];
    if (before === undefined || gapMs === undefined) continue;
    const mostMs = push.target.latestMs - before.target.earliestMs;
    const leastMs = push.target.earliestMs - before.target.latestMs;
    if (mostMs < gapMs - EARLY_MS)
      return `push ${index + 1} came ${seconds(mostMs)} or less after the one before, and ${seconds(gapMs)} were due`;
    if (leastMs > gapMs + allowedLateness(gapMs, evidence))
      return `push ${index + 1} came ${seconds(leastMs)} or more after the one before, and ${seconds(gapMs)} were due`;
  }
  return undefined;
};

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

/** Ends unacknowledged with fewer pushes than the reading has, though the next one's time is over. */
const isCutShort = (story: Story, reading: Reading, evidence: PushEvidence): boolean =>
  story.pushes.length < evidence.limits.maxPushes && endsBefore(story, reading, evidence);

/** Ends unacknowledged though the reading has another push, whose time is over. */
const endsBefore = ({ pushes }: Story, reading: Reading, evidence: PushEvidence): boolean => {
  const last = pushes.at(-1);
  if (last === undefined || last.acknowledged || pushes.length >= reading.pushes) return false;
  const gapMs = gapsOf(reading)[pushes.length - 1];
  if (gapMs === undefined) return false;
  return evidence.watchedUntil.earliestMs - last.target.latestMs > gapMs + allowedLateness(gapMs, evidence);
};

const isWatched = ({ target }: TriggeredEvent, { limits, watchedUntil }: PushEvidence): boolean => {
  const wholeMs = limits.pushDelaysMs.reduce((sum, delay) => sum + delay, 0);
  return watchedUntil.earliestMs - target.latestMs > wholeMs;
};

/** Readings of the schedule by which every failing notification may have been pushed. */
const fittingReadings = (stories: readonly Story[], evidence: PushEvidence): readonly Reading[] => {
  const failing = stories.filter(({ pushes }) => pushes.length > 1);
  if (failing.length === 0) return [];
  return readingsOf(evidence.limits).filter((reading) =>
    failing.every(
      (story) =>
        misfitOf(story, reading, evidence) === undefined &&
        beginsLike(story, reading, evidence) &&
        story.pushes.length <= reading.pushes &&
        !endsBefore(story, reading, evidence),
    ),
  );
};

const beginsLike = ({ event, pushes }: Story, reading: Reading, evidence: PushEvidence): boolean => {
  const [first] = pushes;
  const [dueMs = 0] = instantsOf(reading);
  if (first === undefined) return true;
  const mostMs = first.target.latestMs - event.target.earliestMs;
  const leastMs = first.target.earliestMs - event.target.latestMs;
  return mostMs >= dueMs - EARLY_MS && leastMs <= dueMs + allowedLateness(dueMs, evidence);
};
