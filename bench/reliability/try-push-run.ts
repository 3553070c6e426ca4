import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { catalogue } from "../../conformance/contract/catalogue.ts";
import { conform } from "../../conformance/engine/conform.ts";
import type { Rule } from "../../conformance/checks/rule.ts";
import { rules } from "../../conformance/rules/index.ts";
import { runOptions, startFake } from "../../conformance/testing/fake.ts";
import { hostileRequest } from "./hostile-requests.ts";
import { deliver } from "./try-server.ts";

const pushRules = rules.filter(
  ({ requirement }) =>
    requirement.startsWith("push.") && ["required", "derived"].includes(catalogue[requirement].level),
);

/**
 * The number of concurrent hostile senders, and how long each pauses after a request, in milliseconds: until everything
 * has been sent, and from then on.
 */
const SENDERS = 4;
const PAUSE_MS = { first: 5, again: 500 } as const;

/**
 * Judges the pushes of a service while hostile senders attack the receiver. JSON sent to the callback address looks
 * like a push, so `push.payload` is not judged.
 */
export const tryPushRun = async (behaviour: string, seed: number, of: readonly Rule[] = pushRules) => {
  const fake = await startFake({ behaviour });
  const receiver = await startReceiver({ scheme: "http" });
  const port = Number(new URL(receiver.callbackUrl).port);
  const inputs = fc.sample(hostileRequest([new URL(receiver.callbackUrl).pathname]), { numRuns: 500, seed });
  const over = new AbortController();
  let sent = 0;
  const send = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const input = inputs[sent++ % inputs.length];
      if (input !== undefined) await deliver(port, input);
      await delay(sent < inputs.length ? PAUSE_MS.first : PAUSE_MS.again);
    }
  };
  const senders = Array.from({ length: SENDERS }, send);
  try {
    const { results, exitCode } = await conform({
      ...runOptions(),
      resolved: await fake.resolved(),
      receiver,
      rules: of,
      maxWaitMs: 1_000,
    });
    return { sent, exitCode, verdicts: Object.fromEntries(results.map(({ id, verdict }) => [id, verdict])) };
  } finally {
    over.abort();
    await Promise.all(senders);
    await fake.stop();
    await receiver.stop();
  }
};
