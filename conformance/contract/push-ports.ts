import type { PushLine, PushPlan, ReceiverState } from "./push.ts";

/** A stretch of time that a moment lies in, in milliseconds. */
interface Stretch {
  readonly earliestMs: number;
  readonly latestMs: number;
}

/** The receiver of pushes and the target's clock, for load runs, which watch pushes without running rules. */
export interface PushPorts {
  readonly receiver: {
    state(): Promise<Pick<ReceiverState, "callbackUrl" | "ca" | "last" | "nowMs">>;
    pushes(after: number, waitMs?: number): Promise<readonly PushLine[]>;
    plan(plan: PushPlan): Promise<unknown>;
    clear(): Promise<void>;
  };
  readonly register: (url: string, ca: string) => Promise<void>;
  readonly targetClock: {
    readonly kind: "virtual" | "real";
    now(): Promise<Stretch>;
    sleep(durationMs: number): Promise<void>;
    /** Pushes that were still under way when the clock had been moved last; undefined where its hook does not tell. */
    inFlight(): number | undefined;
  };
  readonly acknowledgedStatus: number;
  /** How long retries may be waited for where the target's clock cannot be moved. */
  readonly maxWaitMs: number;
}
