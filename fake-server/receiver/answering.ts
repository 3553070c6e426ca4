import { fieldOf } from "../../conformance/contract/json.ts";
import type { PushAction, PushLine, PushPlan } from "../../conformance/contract/push.ts";
import { parsePlan } from "./plan.ts";
import { type Arrival, createPlanner } from "./planner.ts";

/** More than any test needs; beyond this the oldest notifications are forgotten, to bound the memory. */
const MOST_NOTIFICATIONS = 500_000;
/** Longer ids are ignored: such notifications are identified by the hash of their body. */
const LONGEST_NAME = 256;

export type Answering = ReturnType<typeof createAnswering>;

/** Counts the attempts of each notification and follows a plan. The plan can be replaced; counts stay. */
export const createAnswering = (plan: PushPlan = { rules: [] }) => {
  let planner = createPlanner(parsePlan(plan));
  const attempts = new Map<string, number>();
  const set = (key: string, attempt: number): number => {
    const [oldest] = attempts.size >= MOST_NOTIFICATIONS && !attempts.has(key) ? attempts.keys() : [];
    if (oldest !== undefined) attempts.delete(oldest);
    attempts.set(key, attempt);
    return attempt;
  };
  const clear = (): void => {
    attempts.clear();
    planner.clear();
  };
  return {
    plan: () => planner.plan,
    choose: (arrival: Arrival): PushAction => planner.choose(arrival),
    /** Ends each push that is being left without an answer by closing its connection. */
    hangs: new Set<() => void>(),
    follow: (next: PushPlan): void => {
      planner = createPlanner(next);
    },
    /** Counts another push of a notification and returns its number, from 1. */
    nextAttempt: ({ key }: Request): number => set(key, (attempts.get(key) ?? 0) + 1),
    /** Restores counts from an earlier process's line. */
    recount: (line: PushLine): void => {
      if (line.kind === "cleared") clear();
      if (line.kind !== "push" || line.attempt === 0) return;
      const { notificationId, accountId, attempt, bodySha256 } = line;
      const key = keyOf(notificationId, bodySha256);
      set(key, attempt);
      planner.count({ notificationId, accountId, key, attempt });
    },
    clear,
  };
};

export type Request = Omit<Arrival, "attempt">;

/** What a parsed body says of itself. */
export const requestOf = (body: unknown, bodySha256: string): Request => {
  const notificationId = nameIn(body, "id");
  return { notificationId, accountId: nameIn(body, "accountId"), key: keyOf(notificationId, bodySha256) };
};

const nameIn = (body: unknown, field: "id" | "accountId"): string | undefined => {
  const name = fieldOf(body, field);
  return typeof name === "string" && name.length <= LONGEST_NAME ? name : undefined;
};

/** Identifies a notification: its id, or the hash of a body without an id. */
const keyOf = (notificationId: string | undefined, bodySha256: string): string =>
  notificationId ?? `sha256:${bodySha256}`;
