import type { TimeInterval } from "../judging/interval.ts";
import type { ListLook, PushCase } from "../judging/pushes/trace.ts";

/** Looks a notification up; says what the list answered where it is missing, undefined where it is listed. */
export type LookUp = (id: string, accountId: string) => Promise<string | undefined>;

/**
 * Reads notifications from the list while their pushes are under way: what is pushed is to be listed by then, and
 * reading it is no reason to stop pushing it.
 */
export interface ListLooks {
  /** Looks up what is to be looked up by now. */
  take(pushCases: readonly PushCase[], now: TimeInterval): Promise<void>;
  /** When the next look is due on the push run's scale, whatever comes; Infinity where none is. */
  nextMs(): number;
  all(): readonly ListLook[];
}

/** What is missing at first is looked for once more when `visibilityMs` are over. */
export const createListLooks = (lookUp: LookUp | undefined, visibilityMs: number): ListLooks => {
  const looks = new Map<string, ListLook>();
  const dueMs = new Map<string, number>();
  return {
    take: async (pushCases, now) => {
      if (lookUp === undefined) return;
      for (const { name, readAtPush, pushes, accountId } of pushCases) {
        const push = readAtPush === undefined ? undefined : pushes[readAtPush - 1];
        const id = push?.line.notificationId;
        if (push === undefined || id === undefined) continue;
        const isFirst = !looks.has(name);
        if (!isFirst && now.earliestMs < (dueMs.get(name) ?? Infinity)) continue;
        const missing = await lookUp(id, accountId);
        looks.set(name, { name, push, at: now, missing });
        if (isFirst && missing !== undefined) dueMs.set(name, push.at.latestMs + visibilityMs);
        else dueMs.delete(name);
      }
    },
    nextMs: () => Math.min(...dueMs.values()),
    all: () => [...looks.values()],
  };
};
