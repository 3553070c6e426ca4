import { setTimeout as delay } from "node:timers/promises";

/** The result of hostile inputs: how many there were, and those that did not go as they should. */
export interface Tried {
  readonly inputs: number;
  readonly wrong: readonly string[];
}

/** Gives this value after so many milliseconds, for a race with what may hang; it keeps no process alive. */
export const after = <T>(ms: number, value: T): Promise<T> => delay(ms, value, { ref: false });
