import type { IterationContext } from "./iteration.ts";

/** A scenario as k6 runs it. `Data` is what the set-up hands to every virtual user, as JSON. */
export interface Scenario<Data = unknown> {
  /** Runs once before the load begins; its requests are no part of the load. */
  readonly setUp?: (context: IterationContext) => Data;
  /** One call of every step, before any load: reports what does not work, with its likely cause. */
  readonly preflight: (context: IterationContext) => void;
  readonly iteration: (context: IterationContext, data: Data) => void;
}

/** Hides the type of the data, which only the scenario itself has to know. */
export const scenario = <Data>(of: Scenario<Data>): Scenario => of as Scenario;
