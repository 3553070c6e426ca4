import type { PushAction } from "../contract/push.ts";
import { isSilentFirst, type Expectation, type PushCasePlan } from "../judging/pushes/trace.ts";
import {
  acknowledgement,
  closed,
  fails,
  hang,
  open,
  planOf,
  pushes,
  status,
  times,
  type Batch,
  type PushCaseOptions,
  type Row,
} from "./push-case.ts";

/* Push cases in which a push gets no answer, or only the beginning of one, and how long that lasts. */

/**
 * Rows without an answer, or without its end. They run when nothing else is due, because a sender with one worker sends
 * nothing else meanwhile.
 */
export const slowRows = ({ acknowledgedStatus: expected, maxPushes }: PushCaseOptions): readonly Row[] => {
  const ack = acknowledgement(expected);
  return [
    ...times(4).map((n): Row => ({ name: `no answer ${n}`, on: [hang(), ack], expect: pushes(2) })),
    { name: "never an answer", on: [hang()], expect: pushes(maxPushes) },
    { name: "status 500 whose body never comes", on: [hang(500), ack], expect: pushes(2) },
  ];
};

/** Answers that never end, after each other kind of status. */
export const unendingRows = ({ acknowledgedStatus: expected }: PushCaseOptions): readonly Row[] => {
  const ack = acknowledgement(expected);
  const other = expected === 201 ? 200 : 201;
  const unending = (code: number, expect: Expectation): Row => ({
    name: `status ${code} whose body never comes`,
    on: [hang(code), ack],
    expect,
  });
  return [
    unending(302, pushes(2)),
    unending(404, pushes(2)),
    unending(expected, open({ unlessBodyDecides: true })),
    unending(other, open()),
  ];
};

/** For each push, a notification that gets no answer there, or only the beginning of one, and fails plainly otherwise. */
export const laterHangs = ({ maxPushes }: Pick<PushCaseOptions, "maxPushes">): readonly PushCasePlan[] =>
  Object.entries({ "no answer": hang(), "status 500 whose body never comes": hang(500) }).flatMap(
    ([what, on]) =>
      times(maxPushes).map((push) =>
        planOf({
          name: `push ${push} gets ${what}`,
          on: [...times(push - 1).map(() => fails), on, fails],
          expect: pushes(maxPushes),
          hangsAt: push,
        }),
      ),
  );

/** Adds an answer that is held back, which the receiver can do for any length of time in real time. */
export const heldAnswer = (batch: Batch, heldMs: number): Batch => {
  const ack = batch.plans.find((plan) => isSilentFirst(plan))?.actions[1];
  if (ack === undefined) return batch;
  const held: Row = {
    name: "an answer that is held back",
    on: [status(500, { delayMs: heldMs }), ack],
    expect: pushes(2),
  };
  return { ...batch, plans: [...batch.plans, planOf(held)] };
};

/** The actions with every hang replaced by a closed connection, for when this pass should wait for no more hangs. */
export const calmed = ({ actions, hangsAt }: PushCasePlan): readonly PushAction[] =>
  actions[0]?.kind === "hang" && hangsAt === undefined
    ? actions.map((action) => (action.kind === "hang" ? closed("before-answer") : action))
    : actions;
