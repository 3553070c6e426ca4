import type { PushLine, PushPlan } from "../../conformance/contract/push.ts";
import { parsePlan } from "./plan.ts";
import { type Arrival, createPlanner } from "./planner.ts";

/** Counts the attempts of each notification and follows a plan. The plan may be replaced; the counts stay. */
export const createAnswering = (plan: PushPlan = { rules: [] }) => {
  let planner = createPlanner(parsePlan(plan));
  const attempts = createAttempts();
  const clear = (): void => {
    attempts.clear();
    planner.clear();
  };
  return {
    attempts,
    planner: () => planner,
    follow: (next: PushPlan): void => {
      planner = createPlanner(next);
    },
    /** Takes up the counts where an earlier process left them. */
    recount: (line: PushLine): void => {
      if (line.kind === "cleared") clear();
      if (line.kind !== "push" || line.attempt === 0) return;
      const arrival = arrivalOf(line);
      attempts.set(arrival.key, line.attempt);
      planner.count(arrival);
    },
    clear,
  };
};
export type Answering = ReturnType<typeof createAnswering>;

/** A push of the journal as it was when it arrived. */
const arrivalOf = (push: Extract<PushLine, { kind: "push" }>): Arrival => ({
  method: push.method,
  path: push.path,
  pathname: push.path.replace(/\?.*$/s, ""),
  body: bodyIn(push.body),
  key: keyOf(push.notificationId, push.bodySha256),
  notificationId: push.notificationId,
  accountId: push.accountId,
  attempt: push.attempt,
});

const bodyIn = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** How many pushes each notification has had. */
export interface Attempts {
  /** Counts one more and returns its number, from 1. */
  readonly next: (key: string) => number;
  readonly set: (key: string, attempt: number) => void;
  readonly clear: () => void;
}

/** No test has more notifications; beyond this the first ones are forgotten, so that memory stays bounded. */
const MOST_NOTIFICATIONS = 500_000;
/** Longer ids are ignored: such notifications are identified by the hash of their body. */
export const LONGEST_NAME = 256;

export const createAttempts = (): Attempts => {
  const counts = new Map<string, number>();
  const set = (key: string, attempt: number): void => {
    if (!counts.has(key) && counts.size >= MOST_NOTIFICATIONS)
      for (const oldest of counts.keys()) {
        counts.delete(oldest);
        break;
      }
    counts.set(key, attempt);
  };
  return {
    next: (key) => {
      const attempt = (counts.get(key) ?? 0) + 1;
      set(key, attempt);
      return attempt;
    },
    set,
    clear: () => counts.clear(),
  };
};

/** Identifies a notification: its id, or the hash of a body without one. */
export const keyOf = (notificationId: string | undefined, bodySha256: string): string =>
  notificationId ?? `sha256:${bodySha256}`;
