import type { Limits } from "../contract/limits.ts";
import type { PushLine } from "../contract/push.ts";
import type { Reading } from "../contract/readings.ts";
import { monotonicMs, type Advanced, type JoinedClock } from "../world/clock.ts";
import type { Events } from "../world/events.ts";
import type { Bracket } from "../world/exchange.ts";
import type { Receiver } from "../world/receiver.ts";
import { isOverdue, nextStopMs, readingsLeft, type AgendaOptions, type Watched } from "./agenda.ts";
import { assign, type Assigned } from "./assign.ts";
import type { Collector } from "./collector.ts";
import { isAcknowledged, shift, type Specimen, type SpecimenPlan } from "./data.ts";
import type { History } from "./readings.ts";
import type { ListLooks, LookUp } from "./list-looks.ts";
import type { Edition, Triggered } from "./pairing.ts";
import type { Timeline } from "./timeline.ts";

export interface CampaignOptions {
  readonly receiver: Receiver;
  /** A clock of the campaign's own, which takes part in the run's journey through time. */
  readonly clock: JoinedClock;
  /** The last time that the target's clock was moved; undefined where it never was. */
  readonly lastAdvance: () => Advanced | undefined;
  readonly events: Events;
  readonly limits: Limits;
  /** Tolerances.latenessMs of the profile. */
  readonly latenessMs: number | undefined;
  /** The return code that the service expects. */
  readonly acknowledgedStatus: number;
  /** How long a push may take in real time after its moment on a virtual clock: nothing else is waited for as long. */
  readonly patienceMs: number;
  /** Ids of the requirements that are to be judged, so that no more is prepared than they need; everything where left out. */
  readonly requirements?: ReadonlySet<string>;
  readonly onLine: (line: PushLine) => void;
  /** What the less usual answers are drawn by. */
  readonly seed: number;
  /** How long a notification may be missing from the list, in milliseconds of the target's clock. */
  readonly visibilityMs: number;
  /** Looks a notification up in the list; left out where nobody can. */
  readonly lookUp?: LookUp;
}

/** A campaign under way. */
export interface Journey {
  readonly options: CampaignOptions;
  /** Changes once, when the journey goes on after its watch. */
  timeline: Timeline;
  readonly collector: Collector;
  readonly agenda: AgendaOptions;
  readonly readings: readonly Reading[];
  readonly triggered: Triggered[];
  /** How long something due is waited for in real time, for now. */
  patienceMs: number;
  /** Pushes that were waited for in vain, so that it is not done again. */
  readonly givenUp: Set<string>;
  /** What is watched for, until something new comes. */
  watched?: { readonly revision: string; readonly list: readonly WatchedSpecimen[] };
  /** What has come so far, sorted, until something new comes. */
  sorted?: { readonly revision: string; readonly assigned: Assigned };
  /** Accounts by specimen, and the plan that goes with them. */
  readonly accountOf: ReadonlyMap<SpecimenPlan, string>;
  /** What the receiver was told to do, and from when on. */
  readonly editions: Edition[];
  /** The advance after which something was set off or arrived that its answer knows nothing of. */
  outdated: Advanced | undefined;
  /** How far the clock may be moved next, where nobody says whether senders have seen to what has come. */
  strideMs: number;
  /** Whether first pushes come as soon as their event is triggered, for all that is known. */
  comesAtOnce: boolean;
  /** Whether the target said each time that nothing was under way any more. */
  isAwaited: boolean;
  readonly listLooks: ListLooks;
}

/** Longest real time, in milliseconds, that a sender is given to see to what has just come. */
const LONGEST_QUIET_MS = 500;
/** A look waits no longer than this in real time, in milliseconds: whoever pushes all the time would be waited for for ever. */
const LONGEST_LOOK_MS = 10_000;
/** Where nothing has come, a look waits for this share of it alone. */
const EMPTY_SHARE = 1 / 4;

/** Pushes that the receiver leaves without an answer and that their sender still waits for. */
export const hangingNow = ({ collector }: Pick<Journey, "collector">): number =>
  collector.arrivals().filter(({ line }) => line.action === "hang" && line.outcome === undefined).length;

/** Whether the target's hook has said, after all that is known to have happened, that nothing more is under way. */
export const isSettled = ({
  options,
  outdated,
  collector,
}: Pick<Journey, "options" | "outdated" | "collector">): boolean => {
  const advance = options.lastAdvance();
  return (
    advance?.inFlight !== undefined && advance !== outdated && advance.inFlight <= hangingNow({ collector })
  );
};

/** Where nobody says that nothing is under way, a bracket begins a look earlier, so that the one before has to be near as well. */
export const agendaOf = ({ agenda, isAwaited }: Journey): AgendaOptions =>
  isAwaited ? agenda : { ...agenda, approach: 2 };

/** Moves on to a moment, stopping wherever a push may come. */
export const travelTo = async (journey: Journey, untilMs: number): Promise<void> => {
  let now = await journey.timeline.now();
  while (now.earliestMs < untilMs) {
    const stopMs =
      journey.timeline.kind === "virtual"
        ? Math.min(
            nextStopMs(now.earliestMs, watchedOf(journey), agendaOf(journey)),
            now.earliestMs + journey.strideMs,
          )
        : now.earliestMs + journey.agenda.coarseMs;
    const lookMs = Math.max(journey.listLooks.nextMs(), now.earliestMs + 1);
    now = await journey.timeline.sleepUntil(Math.min(stopMs, untilMs, lookMs));
    await look(journey, now);
    await journey.listLooks.take(sorted(journey).specimens, now);
  }
};

/**
 * Reads what has come. On a virtual clock, pushes that are due may still be on their way in real time: they
 * are waited for while more keep coming, and less long after each time that it was in vain.
 */
export const look = async (journey: Journey, now?: Bracket): Promise<void> => {
  const at = now ?? (await journey.timeline.now());
  const lines = await journey.collector.collect(at);
  if (journey.timeline.kind === "real") return;
  const untilMs = monotonicMs() + LONGEST_LOOK_MS;
  const more = await awaitMissing(journey, at, untilMs);
  await comeToRest(journey, lines + more, untilMs);
};

/** Waits for what is due and has not come. Returns how many lines did come. */
const awaitMissing = async (journey: Journey, at: Bracket, untilMs: number): Promise<number> => {
  let leftMs = journey.patienceMs;
  let total = 0;
  for (let missing = missingAt(journey, at); missing.length > 0; missing = missingAt(journey, at)) {
    if (leftMs <= 0 || monotonicMs() > untilMs) {
      for (const key of missing) journey.givenUp.add(key);
      journey.patienceMs = Math.max(journey.options.patienceMs, journey.patienceMs / 2);
      return total;
    }
    const waitMs = Math.ceil(Math.min(leftMs, Math.max(5, journey.patienceMs / 8)));
    const lines = await journey.collector.collectMore(waitMs);
    total += lines;
    if (lines > 0) journey.outdated = journey.options.lastAdvance();
    leftMs = lines > 0 ? journey.patienceMs : leftMs - waitMs;
  }
  return total;
};

/**
 * Lets senders see to what has just come before time moves on: a failure that they take note of later is
 * one that they count from later. An advance whose answer says that nothing is under way makes sure of it;
 * otherwise real time passes until nothing comes any more, and the clock is first moved by little.
 */
const comeToRest = async (journey: Journey, came: number, untilMs: number): Promise<void> => {
  const { collector, timeline, options, agenda } = journey;
  let lines = came;
  if (options.lastAdvance()?.inFlight !== undefined && !isSettled(journey)) {
    const { earliestMs } = await timeline.now();
    lines += await collector.collect(await timeline.sleepUntil(earliestMs + 1));
  }
  if (isSettled(journey)) {
    collector.settle();
    journey.strideMs = Infinity;
    return;
  }
  journey.isAwaited = false;
  const quietMs = Math.min(LONGEST_QUIET_MS, options.patienceMs);
  for (let more = lines; ; lines += more) {
    more = await collector.collectMore(lines > 0 ? quietMs : quietMs * EMPTY_SHARE);
    if (more === 0 || monotonicMs() > untilMs) break;
    journey.outdated = options.lastAdvance();
  }
  collector.settle(await timeline.now());
  journey.strideMs = lines > 0 ? agenda.fineMs : 2 * journey.strideMs;
};

interface WatchedSpecimen extends Watched {
  readonly purpose: SpecimenPlan["purpose"];
  readonly key: string;
}

/** The notifications that more pushes may come of. */
export const watchedOf = (journey: Journey): readonly WatchedSpecimen[] => {
  const revision = `${journey.collector.revision()} ${journey.triggered.length}`;
  if (journey.watched?.revision !== revision) journey.watched = { revision, list: listWatched(journey) };
  return journey.watched.list;
};

/** What has come so far, sorted to the events. */
export const sorted = (journey: Journey): Assigned => {
  const { triggered, collector, accountOf, editions } = journey;
  const revision = `${collector.revision()} ${triggered.length} ${editions.length}`;
  if (journey.sorted?.revision !== revision)
    journey.sorted = { revision, assigned: assign(triggered, collector.arrivals(), accountOf, editions) };
  return journey.sorted.assigned;
};

const listWatched = (journey: Journey): readonly WatchedSpecimen[] => {
  const { agenda, readings } = journey;
  const { specimens } = sorted(journey);
  const first = specimens[0];
  const fitting =
    first === undefined || first.pushes.length === 0
      ? []
      : readingsLeft(readings, { ...first, pushes: first.pushes.slice(0, 1) }, agenda);
  // Where the first of all came as no reading has it, every one stays open for the others.
  const firsts = fitting.length === 0 ? readings : fitting;
  // A sender that looks for what is due from time to time only is later than most, and is watched as closely.
  const patient = { ...agenda, latenessMs: agenda.firstDelayMs };
  return specimens.flatMap((one) => {
    const specimen = withUnseen(journey, one);
    const { pushes, name, purpose } = specimen;
    if (one.pushes.some((push) => isAcknowledged(push, journey.options.acknowledgedStatus))) return [];
    const strict = readingsLeft(firsts, specimen, agenda);
    const left = strict.length > 0 ? strict : readingsLeft(readings, specimen, patient);
    const isCoarse = purpose === "refused";
    return [{ history: specimen, readings: left, purpose, isCoarse, key: `${name} ${pushes.length}` }];
  });
};

/** What found nobody listening was sent all the same, and later pushes count from it. */
const withUnseen = (
  { comesAtOnce, agenda }: Journey,
  specimen: Specimen,
): Omit<Specimen, "pushes"> & { readonly pushes: History["pushes"] } => {
  if (specimen.purpose !== "refused") return specimen;
  const at = shift(specimen.triggered, comesAtOnce ? 0 : agenda.firstDelayMs);
  return { ...specimen, pushes: [{ at, ended: at }, ...specimen.pushes] };
};

const missingAt = (journey: Journey, now: Bracket): readonly string[] =>
  watchedOf(journey)
    .filter((watched) => !journey.givenUp.has(watched.key) && isOverdue(now.earliestMs, watched))
    .map(({ key }) => key);
