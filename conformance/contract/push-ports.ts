import type { JournalMark, PushLine, PushPlan, ReceiverState } from "./push.ts";

/** An interval that contains a moment, in milliseconds. */
interface Stretch {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** A time in which this process could not run, and for how much of it. */
export interface Stall extends Stretch {
  readonly forMs: number;
}

/** The receiver of pushes and the target's clock, for load runs, which watch pushes without running rules. */
export interface PushPorts {
  readonly receiver: {
    state(): Promise<Pick<ReceiverState, "callbackUrl" | "ca" | "last" | "nowMs">>;
    /** Lines after a mark; fails if the receiver was restarted since then. */
    pushes(after: Pick<JournalMark, "epoch" | "last">): Promise<readonly PushLine[]>;
    plan(plan: PushPlan): Promise<Pick<JournalMark, "epoch" | "last">>;
    clear(): Promise<void>;
  };
  readonly register: (url: string, ca: string) => Promise<void>;
  readonly targetClock: {
    readonly kind: "virtual" | "real";
    now(): Promise<Stretch>;
    /** Whether the target's time was seen to stand still unless it is moved; false if unknown. */
    isMovedOnly(): boolean;
    sleep(durationMs: number): Promise<void>;
    /** Pushes still in flight when the clock was last moved; undefined if its hook does not report them. */
    inFlight(): number | undefined;
  };
  readonly acknowledgedStatus: number;
  /** What failed, if an error comes from a hook of the profile or from the receiver, which is no failure of the harness. */
  readonly failureOf: (error: unknown) => string | undefined;
  /** Watches this process, which receives the pushes, for stalls from now on. */
  readonly watchStalls: (withinMs: number) => void;
  /** The most time for which it stalled within any such span since then, in milliseconds. */
  readonly stalledMs: () => number;
  /** Its stalls since then, on a clock that reads `nowMs` now. */
  readonly stallsBy: (nowMs: number) => readonly Stall[];
  /** How long to wait for retries if the target's clock cannot be moved. */
  readonly maxWaitMs: number;
}
