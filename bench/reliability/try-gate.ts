import fc from "fast-check";
import { startReceiver } from "../../fake-server/receiver/index.ts";
import { endingOf } from "../../commands/shared/output.ts";
import { conform } from "../../conformance/engine/conform.ts";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import { rules } from "../../conformance/rules/index.ts";
import { mapLimited } from "../../conformance/checks/map-limited.ts";
import type { Rule } from "../../conformance/checks/rule.ts";
import { runOptions, startFake } from "../../conformance/testing/fake.ts";
import { hostileAnswer } from "./hostile-answers.ts";
import { endpoints, startHostileFront, type Endpoint, type HostileGate } from "./hostile-front.ts";
import { after, type Tried } from "./tried.ts";

/** What an endpoint that never answers correctly cannot have kept. */
const promises: Readonly<Record<Endpoint, readonly RequirementId[]>> = {
  authorize: ["authorize.answers-with-code", "authorize.echoes-state", "authorize.timestamp"],
  exchange: ["exchange.token-set", "exchange.access-token-works", "code.single-use"],
  refresh: ["refresh.token-set", "refresh.access-token-works", "refresh.reusable"],
  notifications: ["notifications.shape", "notifications.total", "notifications.limit", "access.required"],
};

const everywhere = Object.keys(endpoints) as Endpoint[];

/**
 * Every family of wrong answers, `variants` of each, at all endpoints together and at each alone, from the start or
 * after a good beginning.
 */
export const hostileGates = (seed: number, variants: number): readonly HostileGate[] => {
  const byKind = Map.groupBy(fc.sample(hostileAnswer, { numRuns: 2_000, seed }), ({ kind }) => kind);
  return [...byKind.values()]
    .flatMap((answers) => answers.slice(0, variants))
    .flatMap((answer, index) => {
      const [alone = "exchange"] = [everywhere[index % everywhere.length]];
      return [
        { answer, at: everywhere, soundFirst: 0 },
        { answer, at: everywhere, soundFirst: 20 },
        { answer, at: [alone], soundFirst: 0 },
        { answer, at: [alone], soundFirst: 10 },
      ];
    });
};

/** A gate with this many rules ends within this time, in milliseconds, whatever the target does; otherwise it hangs. */
const HANGS_AFTER_MS = 480_000;
/** Shorter than a drip takes, in milliseconds. A busy machine's valid answer may be lost, and is requested again. */
const TIMEOUT_MS = 400;

/** Judges one hostile target by these rules, and returns what is wrong with the result. */
const tryGate = async (
  gate: HostileGate,
  of: readonly Rule[],
  stopAtBreach: boolean,
): Promise<readonly string[]> => {
  await using ending = new AsyncDisposableStack();
  const receiver = await startReceiver({ scheme: "http" });
  ending.defer(() => receiver.stop());
  const fake = await startFake();
  ending.defer(fake.stop);
  const front = await startHostileFront(fake.server.baseUrl, gate);
  ending.use(front);
  const over = new AbortController();
  const running = conform({
    ...runOptions(),
    resolved: await fake.resolved({
      baseUrl: front.origin,
      tolerances: { requestTimeoutMs: TIMEOUT_MS },
    }),
    receiver,
    rules: of,
    stopAtBreach,
    maxWaitMs: 1_000,
    signal: over.signal,
  }).then(
    ({ exitCode, results }) => ({ exitCode, results, message: "" }),
    (error: unknown) => ({ message: "", ...endingOf(error, false), results: [] }),
  );
  const ended = await Promise.race([running, after(HANGS_AFTER_MS, undefined)]);
  over.abort();
  const wrong = ended === undefined ? ["the gate hangs"] : wrongIn(gate, ended);
  const { answer, at, soundFirst } = gate;
  const name = `${answer.kind} (${answer.afterwards}) at ${at.join(", ")} after ${soundFirst} sound answers`;
  return wrong.map((one) => `${name}: ${one}`);
};

/** A service that answers a known and an unknown client alike cannot be distinguished from a wrong profile. */
const answersAllAlike = /like (?:one that does not exist|a wrong one): status/;

interface Ended {
  readonly exitCode: number;
  readonly results: readonly RuleResult[];
  readonly message: string;
}

const wrongIn = (gate: HostileGate, { exitCode, results, message }: Ended): readonly string[] => {
  const wrong: string[] = [];
  // Failed, incomplete or unreachable: a hostile target is neither green nor our fault.
  const isTold = exitCode === 2 && gate.soundFirst === 0 && answersAllAlike.test(message);
  if (![1, 3, 4].includes(exitCode) && !isTold) wrong.push(`exit code ${exitCode}: ${message.slice(0, 600)}`);
  const kept = new Set(gate.soundFirst > 0 ? [] : gate.at.flatMap((one) => promises[one]));
  for (const { id, verdict } of results) {
    if (verdict.kind === "passed" && kept.has(id)) wrong.push(`${id} passed`);
    if (verdict.kind === "harness-error") wrong.push(`${id}: ${JSON.stringify(verdict).slice(0, 400)}`);
    if (verdict.kind === "failed" && (verdict.breach.actual === "" || verdict.breach.expected === ""))
      wrong.push(`${id} failed without proof`);
  }
  return wrong;
};

/** A gate mostly waits for a target that does not answer, so several run concurrently. */
const GATES_AT_ONCE = 3;

/** Judges many hostile targets, a few at a time. */
export const tryGates = async (
  gates: readonly HostileGate[],
  of: readonly Rule[] = rules,
  stopAtBreach = false,
): Promise<Tried> => {
  const wrong = await mapLimited(gates, GATES_AT_ONCE, (gate) => tryGate(gate, of, stopAtBreach));
  return { inputs: gates.length, wrong: wrong.flat() };
};
