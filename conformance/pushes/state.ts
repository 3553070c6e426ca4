import type { TimeInterval } from "../judging/interval.ts";
import type { Limits } from "../contract/limits.ts";
import type { PushLine } from "../contract/push.ts";
import type { Reading } from "../judging/pushes/readings.ts";
import type { PushCasePlan } from "../judging/pushes/trace.ts";
import type { ClockSource, JoinedClock } from "../world/clock.ts";
import type { Events } from "../world/hooks/events.ts";
import type { Receiver } from "../world/receiver.ts";
import type { Assigned } from "./assign.ts";
import type { StopOptions, Watched } from "./clock-stops.ts";
import type { Collector } from "./collector.ts";
import type { ListLooks, LookUp } from "./list-looks.ts";
import type { PlanRevision, Triggered } from "./pairing.ts";
import type { Timeline } from "./timeline.ts";

export interface PushRunOptions {
  readonly receiver: Receiver;
  /** A clock of the push run's own, which takes part in the run's shared clock. */
  readonly clock: JoinedClock;
  /** Says what is under way at the target. */
  readonly target: Pick<ClockSource, "underWay" | "askUnderWay">;
  readonly events: Events;
  readonly limits: Limits;
  /** Tolerances.latenessMs of the profile. */
  readonly latenessMs: number | undefined;
  /** The return code that the service expects. */
  readonly acknowledgedStatus: number;
  /** How long a push may take in real time after its moment on a virtual clock: nothing else is waited for as long. */
  readonly patienceMs: number;
  /** Ids of the requirements that are to be judged, so that no more is prepared than they need; everything if absent. */
  readonly requirements?: ReadonlySet<string>;
  readonly onLine: (line: PushLine) => void;
  /** What the less usual answers are drawn by. */
  readonly seed: number;
  /** How long a notification may be missing from the list, in milliseconds of the target's clock. */
  readonly visibilityMs: number;
  /** Looks a notification up in the list; absent if that is impossible. */
  readonly lookUp?: LookUp;
}

/** A push run under way. */
export interface RunState {
  readonly options: PushRunOptions;
  /** Changes once, when the run goes on after its watch. */
  timeline: Timeline;
  readonly collector: Collector;
  readonly stops: StopOptions;
  readonly readings: readonly Reading[];
  readonly triggered: Triggered[];
  /** How long something due is waited for in real time, for now. */
  patienceMs: number;
  /** Pushes that were waited for in vain, so that it is not done again. */
  readonly givenUp: Set<string>;
  /** What is watched for, until something new comes. */
  watched?: { readonly revision: string; readonly list: readonly WatchedPushCase[] };
  /** What has come so far, sorted, until something new comes. */
  sorted?: { readonly revision: string; readonly assigned: Assigned };
  /** Accounts by push case, and the plan that goes with them. */
  readonly accountOf: ReadonlyMap<PushCasePlan, string>;
  /** What the receiver was told to do, and from when on. */
  readonly planRevisions: PlanRevision[];
  /** When something was last set off or arrived, on this machine: what the target said before knows nothing of it. */
  outdatedMs: number;
  /** How far the clock may be moved next, if the target does not say whether pushes are under way. */
  strideMs: number;
  /** Pushes that no receiver saw and that were due in this time, by the names of their notifications. */
  readonly unseen: Map<string, TimeInterval>;
  /** Whether first pushes come as soon as their event is triggered, for all that is known. */
  comesAtOnce: boolean;
  /** Whether the target said each time that nothing was under way any more. */
  isAwaited: boolean;
  readonly listLooks: ListLooks;
}

export interface WatchedPushCase extends Watched {
  readonly purpose: PushCasePlan["purpose"];
  readonly key: string;
}
