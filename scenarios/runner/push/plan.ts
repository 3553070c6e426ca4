import type { PushAction } from "../../../conformance/contract/push.ts";

/** A sequence of failures, attempt by attempt; the last action repeats. */
interface Course {
  readonly attempts: readonly PushAction[];
}

const fails: PushAction = { kind: "answer", status: 503, body: "empty" };
const acknowledges: PushAction = { kind: "answer" };

/**
 * Sequences for failing receivers, used in turn: each failure that requires no waiting, and each number of pushes
 * before success.
 */
const courses: readonly Course[] = [
  { attempts: [fails] },
  { attempts: [fails, acknowledges] },
  { attempts: [{ kind: "reset" }, fails, acknowledges] },
  { attempts: [{ kind: "close", when: "before-answer" }, fails, fails, acknowledges] },
  { attempts: [fails, fails, fails, fails, acknowledges] },
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
        attempts: (courses[index % courses.length] ?? { attempts: [fails] }).attempts.map(inPlace),
      })),
      otherwise: answering,
    },
  };
};
