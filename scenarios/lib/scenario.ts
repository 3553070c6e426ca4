import type { IterationContext } from "./iteration.ts";

/** A scenario as k6 runs it. `Data` is passed from the set-up to every virtual user, as JSON. */
export interface Scenario<Data = unknown> {
  /** Runs once before the load; its requests do not count as load. Begins nothing new once its time is up. */
  readonly setUp?: (context: IterationContext, isTimeUp: () => boolean) => Data;
  /** Calls every step once, before any load, and reports failures with their likely cause. */
  readonly preflight: (context: IterationContext) => void;
  readonly iteration: (context: IterationContext, data: Data) => void;
}

/** Hides the type of the data, which only the scenario itself needs. */
export const scenario = <Data>(of: Scenario<Data>): Scenario => of as Scenario;
