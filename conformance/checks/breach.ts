import fc from "fast-check";
import type { ExchangeRecord } from "../contract/record.ts";
import type { Breach, Facts, Verdict } from "../contract/verdict.ts";
import type { CaseVerdict } from "../judging/case-verdict.ts";
import { hash32 } from "../contract/random.ts";
import { counted, withoutRuns } from "../contract/text.ts";
import type { World } from "../world/world.ts";
import { assignedClient, type ClientIndex } from "./client-assignment.ts";
import { Interrupted, type CaseResult, type RunContext, factsOf, type Tally } from "./context.ts";
import { judgeOnce } from "./judge-once.ts";
import type { CaseOptions } from "./rule.ts";
import { issuedKinds, labelsOf } from "../contract/secrets.ts";

export const REPLAYS = 4;

/** The breach was seen; only an interruption, not an error in the replay, undoes that. */
const unlessInterrupted = (error: unknown): undefined => {
  if (error instanceof Interrupted) throw error;
  return undefined;
};

/** Judges what has failed, or a smaller value, with the same client; undefined if that is impossible. */
export const judgeAgain = (
  context: RunContext,
  judge: (world: World) => Promise<CaseVerdict>,
  tally: Tally,
  { clientIndex }: CaseResult,
  knownLosses?: Iterable<string>,
): Promise<CaseResult | undefined> =>
  context
    .alone((own) =>
      judgeOnce(own, judge, tally, clientIndex, knownLosses === undefined ? {} : { knownLosses }),
    )
    .catch(unlessInterrupted);

/** Repeats a failing case, so that a failure is reported with its rate of recurrence. */
const replay = async (
  context: RunContext,
  first: CaseResult,
  judge: (world: World) => Promise<CaseVerdict>,
  attempts: number,
  tally: Tally,
): Promise<{ result: CaseResult; replayed: { failures: number; attempts: number } }> => {
  let result = first;
  const replayed = { failures: 0, attempts: 0 };
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const again = await judgeAgain(context, judge, tally, first, first.scope.losses.open().keys());
    if (again === undefined) break;
    if (again.judgement.kind === "inconclusive" || again.judgement.kind === "discarded") continue;
    replayed.attempts += 1;
    if (again.judgement.kind !== "failed") continue;
    replayed.failures += 1;
    if (shownOf(again).length <= shownOf(result).length) result = again;
  }
  return { result, replayed };
};

/** The exchanges that show what a case failed for. */
const shownOf = ({ judgement, scope: { exchanges } }: CaseResult): readonly ExchangeRecord[] =>
  judgement.kind === "failed" && judgement.shownBy !== undefined
    ? proofOf(exchanges, judgement.shownBy)
    : exchanges;

export interface FailedCase {
  readonly first: CaseResult;
  readonly judge: (world: World) => Promise<CaseVerdict>;
  readonly replays: number;
  readonly part: string | undefined;
  readonly reproduction: Omit<NonNullable<Breach["reproduction"]>, "seed" | "replayed">;
  readonly facts?: Facts | undefined;
}

/** The verdict of a part with a failing case, after replaying it. Keeps the exchanges that prove it. */
export const failed = async (context: RunContext, tally: Tally, failure: FailedCase): Promise<Verdict> => {
  const { first, judge, replays, part, reproduction, facts } = failure;
  const { result, replayed } = await replay(context, first, judge, replays, tally);
  if (result.judgement.kind !== "failed") throw new Error("a failed verdict needs a failed case");
  const { expected, actual } = result.judgement;
  if (context.restsOnTime?.() === true && replayed.attempts > 0 && replayed.failures === 0)
    return {
      kind: "inconclusive",
      reason: `${expected}; ${actual}, but not when the case was played again alone (${counted(replayed.attempts, "time")})`,
      settle: "a less busy machine, or a clock that moves only by hook",
      cases: tally.decided,
      ...factsOf(tally, facts),
    };
  const shown = shownOf(result);
  const leftOut = result.scope.exchanges.length - shown.length;
  context.keep(shown);
  return {
    kind: "failed",
    cases: tally.decided,
    ...factsOf(tally, facts),
    breach: {
      expected,
      actual,
      evidence: shown.map((exchange) => exchange.n),
      ...(leftOut === 0 ? {} : { leftOut }),
      ...(part === undefined ? {} : { part }),
      reproduction: { seed: context.seed, ...reproduction, replayed },
    },
  };
};

/** The seed of one part of a rule, so that its parts judge different values. */
export const partSeed = ({ seed }: RunContext, part: string | undefined): number =>
  hash32(`${seed}:${part ?? ""}`);

export const clientIndexAt = (
  context: RunContext,
  index: number,
  { part, clients }: Pick<CaseOptions<never>, "part" | "clients">,
): ClientIndex =>
  context.secondClient === "in turn" && clients !== "first"
    ? assignedClient(index, partSeed(context, part))
    : 0;

export const printed = <T>(
  value: T,
  clientIndex: ClientIndex,
  print: (value: T) => string = (one) => withoutRuns(fc.stringify(one)),
): string => (clientIndex === 0 ? print(value) : `${print(value)} (with the second client)`);

/** A credential as the record shows it, whether it was sent as it is, changed, or encoded. */
const label = labelsOf(issuedKinds);

const labelsIn = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => [...text.matchAll(label)].map(([, , name = ""]) => name)));

const written = (headers: readonly (readonly [string, string])[]): readonly string[] =>
  headers.map(([, value]) => value);

const sentIn = ({ request }: ExchangeRecord): ReadonlySet<string> =>
  labelsIn([request.path, ...written(request.headers), request.body ?? ""]);

const gotIn = ({ answer }: ExchangeRecord): ReadonlySet<string> =>
  answer === undefined ? new Set() : labelsIn([...written(answer.headers), answer.text]);

/**
 * The shortest history that shows a breach: the exchanges that decide it, and before them those from which their
 * credentials came, and theirs in turn.
 */
export const proofOf = (
  exchanges: readonly ExchangeRecord[],
  deciding: readonly number[],
): readonly ExchangeRecord[] => {
  const issuers = new Map<string, ExchangeRecord>();
  for (const exchange of exchanges)
    for (const name of gotIn(exchange)) if (!issuers.has(name)) issuers.set(name, exchange);
  const proof = new Set<ExchangeRecord>();
  const add = (exchange: ExchangeRecord): void => {
    if (proof.has(exchange)) return;
    proof.add(exchange);
    for (const name of sentIn(exchange)) {
      const issuer = issuers.get(name);
      if (issuer !== undefined && issuer.n < exchange.n) add(issuer);
    }
  };
  const decides = new Set(deciding);
  for (const exchange of exchanges) if (decides.has(exchange.n)) add(exchange);
  return exchanges.filter((exchange) => proof.has(exchange));
};
