import fc from "fast-check";
import { createJournal, newScope } from "../../conformance/world/evidence/journal.ts";
import { TransportError } from "../../conformance/world/exchange.ts";
import { createSecrets } from "../../conformance/contract/secrets.ts";
import { createRetries } from "../../conformance/world/http/retry.ts";
import { createTransport } from "../../conformance/world/http/transport.ts";
import { mapLimited } from "../../conformance/checks/map-limited.ts";
import { hostileAnswer, type HostileAnswer } from "./hostile-answers.ts";
import { startHostilePeer } from "./hostile-peer.ts";
import { after, type Tried } from "./tried.ts";

/** Shorter than a drip takes, longer than a busy machine delays a valid answer, in milliseconds. */
const TIMEOUT_MS = 3_000;
/**
 * An exchange is tried at most three times, but all share this process, which needs two seconds of processor time and gets
 * a twentieth of a core on a busy machine: only far beyond that is silence a hang.
 */
const HANGS_AFTER_MS = 400_000;
const AT_ONCE = 24;
const IN_A_BATCH = 250;

/** Sleeps take no time, because waits are not tested here. */
const clock = {
  kind: "real",
  isTold: false,
  runs: () => true,
  now: () => Promise.resolve({ earliestMs: 0, latestMs: 0 }),
  canWaitAsAsked: () => true,
  sleep: () => Promise.resolve(),
  sleepAsAsked: () => Promise.resolve(),
} as const;

/** Gives the client this many hostile answers, and checks each outcome. */
export const tryClient = async (count: number, seed: number): Promise<Tried> => {
  const parts: Tried[] = [];
  // In small batches, to measure the memory of the client, not of ten thousand large answers.
  for (let done = 0; done < count; done += IN_A_BATCH)
    parts.push(await tryBatch(Math.min(IN_A_BATCH, count - done), seed + done));
  return { inputs: count, wrong: parts.flatMap(({ wrong }) => wrong) };
};

const tryBatch = async (count: number, seed: number): Promise<Tried> => {
  const peer = await startHostilePeer();
  const journal = createJournal(createSecrets());
  const options = {
    origin: peer.origin,
    journal,
    timeoutMs: TIMEOUT_MS,
    maxConnections: AT_ONCE,
    retries: createRetries(),
  };
  const transport = createTransport(options);
  const wrong: string[] = [];
  const inputs = fc.sample(hostileAnswer, { numRuns: count, seed });
  const one = async (input: HostileAnswer, number: number): Promise<void> => {
    peer.answers.set(number, input);
    const scope = newScope("code.single-use");
    const request = {
      method: number % 2 === 0 ? "GET" : "POST",
      path: `/hostile/${number}`,
      headers: [],
      ...(number % 2 === 0 ? {} : { body: "{}" }),
    };
    const allowed: readonly string[] = input.allowed;
    const send = (): Promise<string> =>
      Promise.race([outcomeOf(transport.send(request, { scope, clock })), after(HANGS_AFTER_MS, "hangs")]);
    const outcome = await (allowed.includes("timeout") ? send() : whereAnswered(send));
    if (!allowed.includes(outcome)) wrong.push(`${input.kind} (seed ${seed}, number ${number}): ${outcome}`);
    // Every record must survive JSON.
    for (const exchange of scope.exchanges) JSON.parse(JSON.stringify(exchange));
    peer.answers.delete(number);
    const afterwards = await whereAnswered(() =>
      outcomeOf(transport.send({ method: "GET", path: "/sound", headers: [] }, { scope, clock }), "sound"),
    );
    if (afterwards !== "sound")
      wrong.push(`the exchange after ${input.kind} (number ${number}): ${afterwards}`);
  };
  try {
    await mapLimited(inputs, AT_ONCE, one);
  } finally {
    await transport.close();
    await peer.stop();
  }
  return { inputs: inputs.length, wrong };
};

/** A busy machine may answer later than the limit that a drip must not reach, so only lasting silence is an outcome. */
const whereAnswered = async (send: () => Promise<string>): Promise<string> => {
  let outcome = "timeout";
  for (let sent = 0; outcome === "timeout" && sent < 10; sent += 1) outcome = await send();
  return outcome;
};

const outcomeOf = async (sent: Promise<{ readonly json: unknown }>, want?: "sound"): Promise<string> => {
  try {
    const { json } = await sent;
    if (want === undefined) return "answer";
    return JSON.stringify(json) === '{"sound":true}' ? "sound" : "another answer";
  } catch (error) {
    return error instanceof TransportError ? error.reason : `threw ${String(error)}`;
  }
};
