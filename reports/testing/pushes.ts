import type { PushLine } from "../../conformance/contract/push.ts";
import { madePush, notificationBody } from "../../conformance/testing/made.ts";
import { madeUuid, type Random } from "./random.ts";

const EPOCH = "3f1b7c52-6d0e-4c8a-9b57-2f8f3f2f9a10";
/** Push times of a notification acknowledged late or never: reading R1, in milliseconds. */
const INSTANTS_MS = [0, 30_000, 90_000, 210_000, 450_000];
/** One notification in this many is not acknowledged at its first push. */
const FAILING = 20;

/**
 * Lines of a receiver's journal: each push with its answer. Notifications are evenly spaced; every twentieth is
 * acknowledged late or never.
 */
export function* pushLines(random: Random, count: number, spanMs: number): Generator<string> {
  const started: PushLine = {
    kind: "started",
    n: 1,
    at: "2030-01-01T00:00:00.000Z",
    atMs: 0,
    epoch: EPOCH,
  };
  yield JSON.stringify(started);
  let n = 1;
  for (let made = 0; made < count;) {
    const notificationId = madeUuid(random);
    const accountId = madeUuid(random);
    const attempts = Math.min(count - made, random.integer(FAILING) === 0 ? 1 + random.integer(5) : 1);
    const firstMs = (spanMs * made) / count;
    for (let attempt = 1; attempt <= attempts; attempt += 1, made += 1, n += 1) {
      const atMs = firstMs + (INSTANTS_MS[attempt - 1] ?? 0) + random.next() * 4;
      yield JSON.stringify(pushOf(n + 1, { notificationId, accountId, attempt, attempts, atMs }));
    }
  }
}

interface Made {
  readonly notificationId: string;
  readonly accountId: string;
  readonly attempt: number;
  readonly attempts: number;
  readonly atMs: number;
}

const pushOf = (n: number, { notificationId, accountId, attempt, attempts, atMs }: Made): PushLine => {
  const isAcknowledged = attempt === attempts && attempt < 5;
  return {
    kind: "push",
    n,
    epoch: EPOCH,
    ...madePush(atMs, {
      completeMs: atMs + 0.2,
      answeredMs: atMs + 0.6,
      outcome: "sent",
      uncertaintyMs: 0.4,
      body: notificationBody(notificationId, accountId),
      bodySha256: "820a44e4f58050751d13580a14441723acfc471519dbaf97d8f88b4b84955ba1",
      notificationId,
      accountId,
      attempt,
      connection: { id: 1 + (n % 32), remotePort: 40_000 + (n % 32), request: 1 + Math.floor(n / 32) },
      action: "answer",
      status: isAcknowledged ? 200 : 503,
    }),
  };
};
