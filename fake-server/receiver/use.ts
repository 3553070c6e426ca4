import type { ReceiverClock } from "./clock.ts";
import { duration } from "../../conformance/contract/duration.ts";
import { LONGEST_SILENCE_MS } from "../../conformance/contract/push.ts";

/**
 * One run at a time uses a receiver: its plan, its listener and its certificate are the same for all pushes, so what one
 * run changes looks like the service's doing to another.
 */
export const createUse = ({ nowMs }: Pick<ReceiverClock, "nowMs">) => {
  let user: { readonly run: string; readonly calledMs: number } | undefined;
  const replaced = new Set<string>();
  return {
    /** Why this run may not call; undefined if it may. It then uses the receiver. */
    refusal: (run: string): string | undefined => {
      const calledMs = nowMs();
      if (replaced.has(run)) return "another run began to use it";
      if (user !== undefined && user.run !== run) {
        const silentMs = calledMs - user.calledMs;
        if (silentMs < LONGEST_SILENCE_MS)
          return `another run uses it, which last called ${duration(Math.round(silentMs))} ago`;
        replaced.add(user.run);
      }
      user = { run, calledMs };
      return undefined;
    },
    end: (): void => {
      user = undefined;
    },
  };
};
