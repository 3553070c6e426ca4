import type { PushAction } from "../../../conformance/contract/push.ts";

const fails: PushAction = { kind: "answer", status: 503, body: "empty" };
const acknowledges: PushAction = { kind: "answer" };

/**
 * Sequences for failing receivers, attempt by attempt, used in turn: each failure that requires no waiting, and each
 * number of pushes before success. The last action repeats.
 */
const courses: readonly (readonly PushAction[])[] = [
  [fails],
  [fails, acknowledges],
  [{ kind: "reset" }, fails, acknowledges],
  [{ kind: "close", when: "before-answer" }, fails, fails, acknowledges],
  [fails, fails, fails, fails, acknowledges],
];

/** Of so many accounts, the pushes of one fail at first or always. */
export const oneFailingIn = 5;

/**
 * Accounts for a push load, and a receiver plan that fails the pushes of a share of them, spread over the list. The
 * others are acknowledged immediately, so that slow retries of the failing ones and pushes of the others cannot mask
 * each other.
 */
export const planPushes = (accounts: readonly string[], acknowledgedStatus: number) => {
  const failing = accounts.filter((_, index) => index % oneFailingIn === 0);
  const answering: PushAction = { kind: "answer", status: acknowledgedStatus };
  const inPlace = (action: PushAction): PushAction => (action === acknowledges ? answering : action);
  return {
    accounts,
    plan: {
      rules: failing.map((accountId, index) => ({
        match: { accountId },
        attempts: (courses[index % courses.length] ?? [fails]).map(inPlace),
      })),
      otherwise: answering,
    },
  };
};
