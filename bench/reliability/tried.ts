import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { readPushes } from "../../fake-server/receiver/testing/receivers.ts";

/** The result of hostile inputs: how many there were, and those that did not go as they should. */
export interface Tried {
  readonly inputs: number;
  readonly wrong: readonly string[];
}

/** Gives this value after so many milliseconds, for a race with what may hang; it keeps no process alive. */
export const after = <T>(ms: number, value: T): Promise<T> => delay(ms, value, { ref: false });

/** Those of these notifications that are not in a receiver's journal. */
export const notIn = async (journal: string, ids: Iterable<string>): Promise<readonly string[]> => {
  const kept = existsSync(journal) ? (await Array.fromAsync(readPushes(journal))).flat() : [];
  const known = new Set(kept.map((line) => (line.kind === "push" ? line.notificationId : undefined)));
  return [...ids].filter((id) => !known.has(id));
};
