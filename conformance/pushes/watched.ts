import { isDeepStrictEqual } from "node:util";
import { given } from "../contract/given.ts";
import { ageBetween, shift, type TimeInterval } from "../judging/interval.ts";
import { nextDue, readingsLeft } from "../judging/pushes/fits.ts";
import { isAcknowledged } from "../judging/pushes/answer.ts";
import { anchors, type Anchor, type History, type Reading } from "../judging/pushes/readings.ts";
import { fromTheirTurn, hasWaited } from "../judging/pushes/turns.ts";
import type { PushCase, PushCasePlan } from "../judging/pushes/trace.ts";
import { assign, type Assigned } from "./assign.ts";
import { actionFor } from "./collector.ts";
import { acknowledgement } from "./push-case.ts";
import { anchorsLeft, type StopOptions, type Watched } from "./clock-stops.ts";
import type { RunState, WatchedPushCase } from "./state.ts";

/** The notifications that may still get pushes. */
export const watchedOf = (state: RunState): readonly WatchedPushCase[] => {
  const revision = `${state.collector.revision()} ${state.triggered.length} ${state.endsSlowly}`;
  if (state.watched?.revision !== revision) state.watched = { revision, list: listWatched(state) };
  return state.watched.list;
};

/** What has come so far, assigned to the events. */
export const sorted = (state: RunState): Assigned => {
  const { triggered, collector, accountOf, planRevisions } = state;
  const revision = `${collector.revision()} ${triggered.length} ${planRevisions.length}`;
  if (state.sorted?.revision !== revision)
    state.sorted = { revision, assigned: assign(triggered, collector.arrivals(), accountOf, planRevisions) };
  return state.sorted.assigned;
};

const listWatched = (state: RunState): readonly WatchedPushCase[] => {
  const { stops, readings } = state;
  const { pushCases } = sorted(state);
  const first = pushCases[0];
  const fitting =
    first === undefined || first.pushes.length === 0
      ? []
      : readingsLeft(readings, { ...first, pushes: first.pushes.slice(0, 1) }, stops);
  // If the very first push fits no reading, all readings stay possible for the others.
  const exact = pushCases.find(({ purpose }) => purpose === "never");
  const firsts = agreedOn(fitting.length === 0 ? readings : fitting, exact, stops);
  // A polling sender is later than most, but is watched as closely.
  const patient = { ...stops, latenessMs: stops.firstDelayMs };
  const kept = anchorsKept(pushCases, agreedOn(firsts, exact, stops), stops);
  const { limits, acknowledgedStatus } = state.options;
  return fromTheirTurn({ pushCases, limits, acknowledgedStatus }).flatMap((one) => {
    const judged = hasWaited(one) ? { fromIndex: 1 } : {};
    const pushCase = withUnseen(state, one);
    const { pushes, name, purpose, expect } = pushCase;
    if (one.pushes.some((push) => isAcknowledged(push, acknowledgedStatus))) return [];
    const strict = readingsLeft(firsts, pushCase, { ...stops, ...judged });
    const left = strict.length > 0 ? strict : readingsLeft(readings, pushCase, { ...patient, ...judged });
    const key = `${name} ${pushes.length}`;
    const expected = pushes.length === 0 ? asLateAs(first, one) : undefined;
    const watched = { history: pushCase, readings: left, purpose, key, ...given({ expected }) };
    if (purpose === "ending") return [{ ...watched, ...closenessOfEnding(pushCase, kept) }];
    const closeness = isTold(purpose, expect) ? closenessOf(pushCase, exact) : closenessOfUntold(pushCase);
    // Not ahead of the exactly watched notification, whose schedule this one shares.
    const isAhead = closeness !== "beside" || (exact?.pushes.length ?? 0) > pushes.length;
    // Of what the document leaves open it only matters whether a push comes.
    const usual = isAhead && expect.kind !== "open" ? closeness : "loose";
    const isCoarse = usual === "loose" || usual === "coarse";
    return [{ ...watched, closeness: isCoarse && isInDanger(pushCase, state) ? "due" : usual }];
  });
};

/**
 * When the first push of a notification comes if the sender is as late as it was with another one; undefined if that came
 * at once, or has not come. A sender may be late in a way that no reading predicts.
 */
const asLateAs = (
  other: Pick<PushCase, "pushes" | "triggered"> | undefined,
  { triggered }: Pick<PushCase, "triggered">,
): TimeInterval | undefined => {
  const [push] = other?.pushes ?? [];
  if (other === undefined || push === undefined) return undefined;
  const { leastMs, greatestMs } = ageBetween(other.triggered, push.at);
  return leastMs > 0
    ? { earliestMs: triggered.earliestMs + leastMs, latestMs: triggered.latestMs + greatestMs }
    : undefined;
};

/**
 * Whether the next push will be acknowledged, and acknowledgements take long. Meanwhile the clock must not be moved on: a
 * sender that has not received the acknowledgement would give up on it.
 */
const isInDanger = (
  { actions, pushes }: Pick<PushCase, "actions"> & Pick<History, "pushes">,
  { options, endsSlowly }: Pick<RunState, "options" | "endsSlowly">,
): boolean =>
  endsSlowly &&
  isDeepStrictEqual(actionFor(actions, pushes.length + 1), acknowledgement(options.acknowledgedStatus));

/** The anchors that the sender was seen to use in any reading, by the notifications whose first push got no answer. */
const anchorsKept = (
  pushCases: readonly PushCase[],
  readings: readonly Reading[],
  stops: StopOptions,
): readonly Anchor[] | undefined => {
  const hung = pushCases.filter(({ purpose, pushes }) => purpose === "hang" && pushes.length > 1);
  const kept = anchors.filter((anchor) =>
    readings.some((reading) =>
      hung.every((pushCase) => anchorsLeft(reading, pushCase, stops).includes(anchor)),
    ),
  );
  return hung.length > 0 && kept.length > 0 ? kept : undefined;
};

/** `near` when the ending's effect must show; `due` up to then, so that its pushes come when due; `loose` after that. */
const closenessOfEnding = (
  { hangsAt = 1, pushes }: Pick<PushCase, "hangsAt"> & Pick<History, "pushes">,
  kept: readonly Anchor[] | undefined,
): Pick<Watched, "closeness" | "anchors"> => {
  const last = pushes.at(-1);
  if (pushes.length > hangsAt) return { closeness: "loose" };
  if (pushes.length < hangsAt || last?.ended === undefined) return { closeness: "due" };
  return { closeness: "near", ...(kept === undefined ? {} : { anchors: kept }) };
};

/** Whether the moments of such a notification's pushes are judged. */
const isTold = (purpose: PushCasePlan["purpose"], expect: PushCasePlan["expect"]): boolean =>
  expect.kind !== "open" && !["refused", "untrusted", "stall"].includes(purpose);

/** The retry of a refused first push must be told from a first push that came late, after the receiver listened again. */
const closenessOfUntold = ({
  purpose,
  pushes,
}: Pick<PushCase, "purpose"> & Pick<History, "pushes">): NonNullable<Watched["closeness"]> =>
  purpose === "refused" && pushes.length === 1 ? "apart" : "coarse";

/** A notification triggered after the first never-acknowledged one is watched less closely. */
const closenessOf = (
  { purpose, triggered, pushes }: History & Pick<PushCase, "purpose">,
  exact: PushCase | undefined,
) => {
  // Later pushes cannot be known more exactly than the failures before them.
  if (purpose === "unanswered" && pushes.length > 1) return "near";
  return purpose === "never" && exact !== undefined && triggered.earliestMs > exact.triggered.latestMs
    ? "beside"
    : "exact";
};

/** A sender keeps to one reading, so what its most exact notification rules out is not watched for in the others. */
const agreedOn = (
  firsts: readonly Reading[],
  exact: PushCase | undefined,
  stops: StopOptions,
): readonly Reading[] => {
  const agreed = exact === undefined ? [] : readingsLeft(firsts, exact, stops);
  return agreed.length === 0 ? firsts : agreed;
};

/** A push to a closed port was still sent, and later pushes count from it. */
const withUnseen = (
  { comesAtOnce, stops }: RunState,
  pushCase: PushCase,
): Omit<PushCase, "pushes"> & { readonly pushes: History["pushes"] } => {
  if (pushCase.purpose !== "refused") return pushCase;
  const at = shift(pushCase.triggered, comesAtOnce ? 0 : stops.firstDelayMs);
  return { ...pushCase, pushes: [{ at, ended: at }, ...pushCase.pushes] };
};

/** The latest moment of another push of these notifications, in any of these readings that their pushes allow. */
export const lastPlausibleMs = (
  state: RunState,
  isMeant: (watched: WatchedPushCase, reading: Reading) => boolean,
): number =>
  Math.max(
    0,
    ...watchedOf(state).flatMap((watched) => {
      const meant = watched.readings.filter((reading) => isMeant(watched, reading));
      return nextDue(watched.history, meant, ["failure"], state.stops).map(({ latestMs }) => latestMs + 1);
    }),
  );
