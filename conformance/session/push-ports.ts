import type { PushPorts } from "../contract/push-ports.ts";
import { ConfigurationError } from "../contract/problem.ts";
import type { ResolvedProfile } from "../profile/profile.ts";
import { openSession } from "./session.ts";
import { after, watchStalls } from "../world/clock.ts";
import { HookError } from "../world/hooks/hooks.ts";
import { ReceiverError, type ReceiverAccess } from "../world/receiver.ts";

/**
 * What an interrupted load received is judged, too, so the receiver is asked after an interruption, but not for longer
 * than this: one that is silent must not hold up the end of the run.
 */
const askingAfter = (interruption: AbortSignal, askedForMs: number) => {
  const ending = new AbortController();
  let deadline: ReturnType<typeof after> | undefined;
  const onInterruption = (): void => void (deadline = after(askedForMs, () => ending.abort()));
  if (interruption.aborted) onInterruption();
  else interruption.addEventListener("abort", onInterruption, { once: true });
  return {
    signal: ending.signal,
    end: (): void => {
      ending.abort();
      deadline?.cancel();
      interruption.removeEventListener("abort", onInterruption);
    },
  };
};

/** Opens them; sends nothing yet. Throws ConfigurationError if the profile lacks what pushes need. */
export const openPushPorts = (
  resolved: ResolvedProfile,
  receiver: ReceiverAccess | undefined,
  options: {
    readonly maxWaitMs: number;
    readonly signal: AbortSignal;
    readonly freshUuid: () => string;
    /** How long after an interruption the receiver is still asked for what it got, in milliseconds. */
    readonly askedForMs: number;
  },
): PushPorts & { readonly close: () => Promise<void> } => {
  const asking = askingAfter(options.signal, options.askedForMs);
  const session = openSession(resolved, { ...options, receiver, receiverEnds: asking.signal });
  const { registerCallback } = session;
  if (session.receiver === undefined || registerCallback === undefined)
    throw new ConfigurationError([
      "watching pushes needs `hooks.events.trigger` and `hooks.callback.register` in the profile",
    ]);
  const clock = session.clocks.join();
  let stalls: ReturnType<typeof watchStalls> | undefined;
  return {
    receiver: session.receiver,
    register: registerCallback,
    targetClock: {
      kind: clock.kind,
      now: () => clock.now(),
      isMovedOnly: () => clock.isMovedOnly(),
      sleep: (durationMs) => clock.sleep(durationMs),
      inFlight: () => session.clocks.underWay?.()?.inFlight,
    },
    acknowledgedStatus: session.acknowledgedStatus,
    failureOf: (error) => {
      if (error instanceof ReceiverError) return [error.message, error.remedy].filter(Boolean).join("; ");
      return error instanceof HookError ? error.message : undefined;
    },
    watchStalls: (withinMs) => {
      stalls?.stop();
      stalls = watchStalls(withinMs);
    },
    stalledMs: () => stalls?.mostMs() ?? 0,
    stallsBy: (nowMs) => stalls?.by(nowMs) ?? [],
    maxWaitMs: options.maxWaitMs,
    close: async () => {
      asking.end();
      stalls?.stop();
      clock.leave();
      await session.cleanUp();
      await session.close();
    },
  };
};
