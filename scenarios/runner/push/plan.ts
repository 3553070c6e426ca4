import type { PushAction } from "../../../conformance/contract/push.ts";

/** A way to fail, attempt by attempt; the last action repeats. */
interface Course {
  readonly attempts: readonly PushAction[];
}

const fails: PushAction = { kind: "answer", status: 503, body: "empty" };
const acknowledges: PushAction = { kind: "answer" };

/** What failing receivers do, one after the other: each failure that needs no waiting for, and each number of pushes before success. */
const courses: readonly Course[] = [
  { attempts: [fails] },
  { attempts: [fails, acknowledges] },
  { attempts: [{ kind: "reset" }, fails, acknowledges] },
  { attempts: [{ kind: "close", when: "before-answer" }, fails, fails, acknowledges] },
  { attempts: [fails, fails, fails, fails, acknowledges] },
];

/** The share of accounts whose pushes fail at first or for good. */
export const failingShare = 0.2;

/**
 * Accounts for a push load, and a plan by which the receiver fails the pushes of a share of them.
 * The other accounts are acknowledged at once, so that a slow retry of the failing ones cannot hide
 * behind them, nor they behind it.
 */
export const planPushes = (accounts: readonly string[], acknowledgedStatus: number) => {
  const failing = accounts.slice(0, Math.max(1, Math.round(accounts.length * failingShare)));
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
