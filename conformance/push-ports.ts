import type { PushLine, PushPlan, ReceiverState } from "./contract/push.ts";
import { ConfigurationError } from "./problem.ts";
import type { ResolvedProfile } from "./profile.ts";
import { openSession } from "./session.ts";
import type { Bracket } from "./world/exchange.ts";
import type { ReceiverAccess } from "./world/receiver.ts";

/** The receiver of pushes and the target's clock, for whoever watches pushes without judging rules. */
export interface PushPorts {
  readonly receiver: {
    state(): Promise<ReceiverState>;
    pushes(after: number, waitMs?: number): Promise<readonly PushLine[]>;
    plan(plan: PushPlan): Promise<void>;
    clear(): Promise<void>;
  };
  readonly register: (url: string, ca: string) => Promise<void>;
  readonly targetClock: {
    readonly kind: "virtual" | "real";
    now(): Promise<Bracket>;
    sleep(durationMs: number): Promise<void>;
    /** Pushes that were still under way when the clock had been moved last; undefined where its hook does not tell. */
    inFlight(): number | undefined;
  };
  readonly acknowledgedStatus: number;
  readonly maxWaitMs: number;
  readonly close: () => Promise<void>;
}

/** Opens them; nothing is sent yet. Throws ConfigurationError where the profile lacks what pushes need. */
export const openPushPorts = (
  resolved: ResolvedProfile,
  receiver: ReceiverAccess | undefined,
  options: { readonly maxWaitMs: number; readonly signal: AbortSignal; readonly freshUuid: () => string },
): PushPorts => {
  const session = openSession(resolved, { ...options, receiver });
  const { registerCallback } = session;
  if (session.receiver === undefined || registerCallback === undefined)
    throw new ConfigurationError([
      "watching pushes needs `hooks.events.trigger` and `hooks.callback.register` in the profile",
    ]);
  const clock = session.clocks.join();
  return {
    receiver: session.receiver,
    register: registerCallback,
    targetClock: {
      kind: clock.kind,
      now: () => clock.now(),
      sleep: (durationMs) => clock.sleep(durationMs),
      inFlight: () => session.clocks.lastAdvance?.()?.inFlight,
    },
    acknowledgedStatus: session.acknowledgedStatus,
    maxWaitMs: options.maxWaitMs,
    close: async () => {
      clock.leave();
      await session.close();
    },
  };
};
