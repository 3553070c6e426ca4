import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { startFakeServer } from "../../../fake-server/index.ts";
import { startReceiver } from "../../../fake-server/receiver/index.ts";
import type { PushAction, PushLine } from "../../contract/push.ts";
import { pushesIn } from "../../judging/pushes/journal.ts";
import { pause } from "../../world/clock.ts";
import { openReceiver } from "../../world/receiver.ts";
import { sendJson } from "../servers.ts";

/*
 * `node conformance/testing/journals/record.ts [BEHAVIOUR ...]` records what a receiver sees of the fake service in
 * real time, with the delays of the document. It takes nine minutes for any number of behaviours.
 */

const fails: PushAction = { kind: "answer", status: 500 };
const acknowledges: PushAction = { kind: "answer" };

const cases: Readonly<Record<string, readonly PushAction[]>> = {
  "never acknowledged": [fails],
  "acknowledged at push 1": [acknowledges],
  "acknowledged at push 3": [fails, fails, acknowledges],
  "closed, then acknowledged": [{ kind: "close", when: "before-answer" }, acknowledges],
  "reset, then acknowledged": [{ kind: "reset" }, acknowledges],
};

const recorded = [
  "sound",
  "push-ignores-acknowledgements",
  "push-last-retry-never-sent",
  "push-jitter-slightly-early",
  "push-jitter-late",
  "push-retried-after-5xx-only",
  "push-any-answer-taken-for-success",
];

const WATCHED_MS = 520_000;

/** One notification: the receiver's lines, with all moments relative to its event. */
export interface RecordedNotification {
  readonly behaviour: string;
  readonly name: string;
  readonly watchedUntilMs: number;
  readonly lines: readonly PushLine[];
}

const record = async (behaviour: string): Promise<readonly RecordedNotification[]> => {
  await using ending = new AsyncDisposableStack();
  const service = await startFakeServer({ behaviour, clockMode: "flowing" });
  ending.defer(service.stop);
  const accounts = Object.entries(cases).map(([name, attempts]) => ({ name, attempts, id: randomUUID() }));
  const running = await startReceiver({
    scheme: "http",
    plan: {
      rules: accounts.map(({ id, attempts }) => ({ match: { accountId: id }, attempts: [...attempts] })),
    },
  });
  ending.defer(() => running.stop());
  const receiver = openReceiver(running, new AbortController().signal);
  await sendJson(`${service.controlUrl}/callback`, "PUT", { url: running.callbackUrl });
  const events = new Map<string, number>();
  for (const { id } of accounts) {
    // Read before the call, so that no push seems to come before its event.
    events.set(id, (await receiver.state()).nowMs);
    await sendJson(`${service.controlUrl}/events`, "POST", { accountId: id });
  }
  await pause(WATCHED_MS);
  const { nowMs: untilMs, epoch } = await receiver.state();
  const pushes = pushesIn(await receiver.pushes({ epoch, last: 0 }));
  return accounts.map(({ name, id }) => {
    const eventMs = events.get(id) ?? 0;
    return {
      behaviour,
      name,
      watchedUntilMs: Math.floor(untilMs - eventMs),
      lines: pushes
        .filter(({ accountId }) => accountId === id)
        .map((push): PushLine => ({
          kind: "push",
          ...push,
          firstByteMs: push.firstByteMs - eventMs,
          completeMs: push.completeMs - eventMs,
          ...(push.answeredMs === undefined ? {} : { answeredMs: push.answeredMs - eventMs }),
        })),
    };
  });
};

const [, , ...asked] = process.argv;
const behaviours = asked.length > 0 ? asked : recorded;
const journals = await Promise.all(behaviours.map(record));
for (const [at, behaviour] of behaviours.entries())
  writeFileSync(
    path.join(import.meta.dirname, `${behaviour}.jsonl`),
    (journals[at] ?? []).map((one) => `${JSON.stringify(one)}\n`).join(""),
  );
