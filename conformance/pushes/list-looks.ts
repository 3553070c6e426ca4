import type { TimeInterval } from "../judging/interval.ts";
import type { ListLook, Missing, PushCase } from "../judging/pushes/trace.ts";

/** Looks a notification up. Returns what the list answered if it is missing, undefined if it is listed. */
export type LookUp = (id: string, accountId: string) => Promise<Missing | undefined>;

/**
 * Reads notifications from the list while their pushes are under way: a pushed notification must be listed by then, and
 * reading it must not stop its pushes.
 */
export type ListLooks = ReturnType<typeof createListLooks>;

/** Looks again after `visibilityMs` for what was missing at first. */
export const createListLooks = (lookUp: LookUp | undefined, visibilityMs: number) => {
  const looks = new Map<string, ListLook>();
  const dueMs = new Map<string, number>();
  return {
    /** Looks up what is due for lookup by now. */
    take: async (pushCases: readonly PushCase[], now: TimeInterval): Promise<void> => {
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
    /** When the next lookup is due on the push run's clock; Infinity if none is. */
    nextMs: (): number => Math.min(...dueMs.values()),
    all: (): readonly ListLook[] => [...looks.values()],
  };
};
