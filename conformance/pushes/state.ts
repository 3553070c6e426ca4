import type { Limits } from "../contract/limits.ts";
import type { Reached } from "../judging/pushes/lag.ts";
import type { PushAction, PushLine } from "../contract/push.ts";
import type { TimeInterval } from "../judging/interval.ts";
import type { Tolerance } from "../judging/pushes/readings.ts";
import type { Hypothesis } from "../judging/pushes/explain.ts";
import type { PushCase, PushCasePlan, PushRun, ReceiverOutage } from "../judging/pushes/trace.ts";
import type { ClockSource, JoinedClock } from "../world/clock.ts";
import type { Events } from "../world/hooks/events.ts";
import type { Receiver } from "../world/receiver.ts";
import type { Assigned, Triggered } from "./assign.ts";
import type { Collector } from "./collector.ts";
import type { ListLooks, LookUp } from "./list-looks.ts";
import type { Timeline } from "./timeline.ts";

export interface PushRunOptions {
  readonly receiver: Receiver;
  /** The push run's own clock, which takes part in the run's shared clock. */
  readonly clock: JoinedClock;
  /** Reports what is in flight at the target. */
  readonly target: Pick<ClockSource, "underWay" | "askUnderWay">;
  readonly events: Events;
  readonly limits: Limits;
  /** tolerances.latenessMs of the profile. */
  readonly latenessMs: number | undefined;
  /** tolerances.pushResolutionShare of the profile. */
  readonly resolutionShare?: number | undefined;
  /** The return code that the service expects. */
  readonly acknowledgedStatus: number;
  /** Whether the sender's sockets time out in real time, though its schedule goes by a clock that is moved (libfaketime). */
  readonly hangsInRealTime?: boolean;
  /** How long a push may take in real time after its moment on a virtual clock, in milliseconds; the longest wait of all. */
  readonly patienceMs: number;
  /** Ids of the requirements to be judged, so that only what they need is prepared; absent means all. */
  readonly requirements?: ReadonlySet<string>;
  readonly onLine: (line: PushLine) => void;
  /** Aborted once the run is interrupted. */
  readonly signal: AbortSignal;
  /** How long the push run may take in real time, in milliseconds. */
  readonly maxWaitMs: number;
  /** Told in real time how long watching goes on, and how long it would have to, in milliseconds; again as more is known. */
  readonly onWatch?: ((watch: { readonly leftMs: number; readonly neededMs: number }) => void) | undefined;
  /** How many events may be triggered per second; by default in real time spread over half the first delay, otherwise without a limit. */
  readonly eventsPerSecond?: number | undefined;
  /** Selects the less usual answers. */
  readonly seed: number;
  /** How long a notification may be missing from the list, in milliseconds on the target's clock. */
  readonly visibilityMs: number;
  /** Looks a notification up in the list; absent if that is impossible. */
  readonly lookUp?: LookUp;
  /** Whether what has been seen so far, to the end of the watch or not, is all that is asked for. */
  readonly isEnough?: ((pushRun: PushRun, isWatched: boolean) => Promise<boolean>) | undefined;
}

/** The push that may come next, by one hypothesis that the sender may still follow. */
export interface Next {
  readonly due: TimeInterval;
  /** The latest moment at which it is in time. */
  readonly latestMs: number;
  readonly keepsCap: boolean;
}

/** A notification that may get more pushes. */
export interface Expected {
  readonly pushCase: PushCase;
  /** Its name and the number of its pushes so far. */
  readonly key: string;
  readonly next: readonly Next[];
  /** Whether one more push breaks the cap, whenever it comes. */
  readonly isAtCap: boolean;
  /**
   * `exact`: early, punctual and late must be told apart; `due`: punctual and late; `loose`: only whether it comes matters.
   */
  readonly closeness: "exact" | "due" | "loose";
  /** How long its sender waited for answers that never came, in milliseconds. */
  readonly waitsMs: readonly number[];
}

/** What is known of the sender; new whenever something comes. */
export interface Known {
  readonly revision: string;
  readonly list: readonly Expected[];
  readonly left: readonly Hypothesis[];
}

/** How the stops of a clock lie around what is expected, in milliseconds. */
export interface StopOptions {
  /** The finest step. */
  readonly fineMs: number;
  /** The longest step while nothing is expected. */
  readonly coarseMs: number;
  readonly firstDelayMs: number;
  readonly latenessMs: number;
  /** Steps before a moment; 2 if intervals begin one look earlier. */
  readonly approach: 1 | 2;
}

/** A push run in progress. */
export interface RunState {
  readonly options: PushRunOptions;
  /** Replaced once, when the run continues after its watch. */
  timeline: Timeline;
  readonly collector: Collector;
  readonly stops: Pick<StopOptions, "fineMs" | "coarseMs" | "firstDelayMs">;
  readonly tolerance: Required<Tolerance>;
  readonly triggered: Triggered[];
  /** How long something due is currently waited for in real time, in milliseconds. */
  patienceMs: number;
  /** The same right after the target reported that nothing was in flight. */
  reportedPatienceMs: number;
  /** How long what the target reports to be in flight is waited for in real time, in milliseconds; less after each wait in vain. */
  restPatienceMs: number;
  /** Whether pushes were seen to be under way for long in real time once the clock had been moved. */
  endsSlowly: boolean;
  /** Whether something came although the target had reported that nothing was in flight. */
  hasMisreported: boolean;
  /**
   * Pushes that were waited for in vain, so that they are not waited for again, and since when in real time; Infinity where
   * the receiver was out.
   */
  readonly givenUp: Map<string, number>;
  /** Cached until something new comes. */
  known?: Known;
  /** Cached until something new comes. */
  sorted?: { readonly revision: string; readonly assigned: Assigned };
  /** Accounts by push case. */
  readonly accountOf: ReadonlyMap<PushCasePlan, string>;
  /** How the pushes of a notification are answered from now on. */
  answers: (plan: PushCasePlan) => readonly PushAction[];
  /** How much later any push may be in real time, because of this machine and the network, in milliseconds. */
  unrestMs: () => number;
  /** Whether pushes that got no answer had to be waited for in real time on a clock that is moved. */
  hungInRealTime: boolean;
  /** From when on pushes are left unanswered; undefined until that is known. */
  silentFromMs?: number;
  /** When watching began, and when the receiver was last asked. */
  readonly watchedFromMs: number;
  looked: TimeInterval;
  /** When watching has to end, in real time. */
  readonly deadlineMs: number;
  /** Whether the target reported before the main moment, too, that nothing was in flight. */
  wasAwaited: boolean;
  /** The outages that are over. */
  readonly outages: ReceiverOutage[];
  /** When something was last triggered or arrived, on this machine's clock; reports of the target from before that are stale. */
  outdatedMs: number;
  /** How far the clock may be moved next, if the target does not report whether pushes are in flight. */
  strideMs: number;
  /** Whether first pushes come as soon as their event is triggered, as far as is known. */
  comesAtOnce: boolean;
  /** Whether the target always reported that nothing was in flight. */
  isAwaited: boolean;
  readonly listLooks: ListLooks;
  /** When the target's clock had reached which moment. */
  readonly reached: Reached[];
  /** When watching began, on this machine's clock, in milliseconds. */
  readonly beganMs: number;
  /** The receiver's clock minus `monotonicMs`, in milliseconds, or slightly less. */
  readonly receiverAheadMs: number;
  /** The longest that something came after it was first waited for in real time, in milliseconds. */
  slowestMs: number;
}
