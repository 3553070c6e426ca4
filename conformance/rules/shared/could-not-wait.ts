import type { Verdict } from "../../contract/verdict.ts";
import type { World } from "../../world/world.ts";

/** The verdict on what the run could not wait for. No remedy helps before the clock is known to follow what moves it. */
export const couldNotWait = ({ clock }: Pick<World, "clock">, what: string, remedy?: string): Verdict => {
  const doubt = clock.distrusted?.();
  return {
    kind: "could-not-run",
    missing: doubt === undefined ? "clock.advance" : "clock.now",
    reason: [what, doubt ?? remedy].filter((part) => part !== undefined).join("; "),
  };
};
