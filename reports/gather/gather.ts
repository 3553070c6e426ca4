import type { LoadBreach } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { RecordedGate, RecordedLoad, GateRun, LoadRun, Run } from "../read/index.ts";
import { type Course, courseOf } from "./course.ts";
import type { PushLine } from "../../conformance/contract/push.ts";

/** A gate run as far as it was read: evidence only if its files were read. */
export interface GateView extends RecordedGate {
  /** Exchanges of each rule that was not broken; a broken rule's exchanges are in the record. */
  readonly evidence?: ReadonlyMap<string, Sampled<ExchangeRecord>>;
  readonly pushes?: PushDigest | undefined;
}

/** A load run as far as it was read: its course over time only if its samples were read. */
export interface LoadView extends RecordedLoad {
  readonly course?: Course;
  readonly breaches?: Sampled<LoadBreach>;
}

export type RunView = GateView | LoadView;

/** For a rule that was not broken, the first exchanges and the last one are shown. */
const FIRST = 3;
const LAST = 1;
const BREACHES = 20;

/**
 * Reduces a run to what fits a page, reading each file once, line by line. Throws ConfigurationError if a line is
 * damaged.
 */
export const gather = (run: Run): Promise<RunView> =>
  run.kind === "conform" ? gatherGate(run) : gatherLoad(run);

const gatherGate = async (run: GateRun): Promise<GateView> => ({
  kind: "conform",
  directory: run.directory,
  record: run.record,
  evidence: await sampleExchanges(run),
  pushes: await digestPushes(run.pushes()),
});

const sampleExchanges = async (run: GateRun): Promise<ReadonlyMap<string, Sampled<ExchangeRecord>>> => {
  const samplers = new Map<string, ReturnType<typeof sampler<ExchangeRecord>>>();
  for await (const exchange of run.exchanges()) {
    const known = samplers.get(exchange.rule) ?? sampler<ExchangeRecord>(FIRST, LAST);
    samplers.set(exchange.rule, known);
    known.add(exchange);
  }
  return new Map([...samplers].map(([rule, one]) => [rule, one.sampled()]));
};

const gatherLoad = async (run: LoadRun): Promise<LoadView> => {
  const breaches = sampler<LoadBreach>(BREACHES, 0);
  for await (const breach of run.breaches()) breaches.add(breach);
  return {
    kind: "load",
    directory: run.directory,
    record: run.record,
    course: await courseOf(run),
    breaches: breaches.sampled(),
  };
};

/** A sample of many items, with their total, so that omissions are always counted. */
interface Sampled<T> {
  readonly shown: readonly T[];
  readonly count: number;
}

export const endsOf = <T>(all: readonly T[], first: number, last: number): Sampled<T> => ({
  shown: all.length <= first + last ? all : [...all.slice(0, first), ...all.slice(-last)],
  count: all.length,
});

/** Keeps the first and the last items of a stream, in bounded memory. */
export const sampler = <T>(first: number, last: number) => {
  const head: T[] = [];
  let tail: T[] = [];
  let count = 0;
  return {
    add: (item: T): void => {
      count += 1;
      if (head.length < first) {
        head.push(item);
        return;
      }
      if (tail.length >= last) tail = tail.slice(1);
      if (last > 0) tail.push(item);
    },
    sampled: (): Sampled<T> => ({ shown: [...head, ...tail], count }),
  };
};

export type SeenPush = Extract<PushLine, { readonly kind: "push" }>;

export interface PushDigest {
  readonly pushes: number;
  readonly notifications: number;
  /** Number of notifications by push count; the first entry is for one push. */
  readonly attempts: readonly number[];
  /** Pushes by the receiver's answer: a status, or a word such as hang. */
  readonly answers: readonly (readonly [answer: string, count: number])[];
  readonly others: number;
  readonly sample: Sampled<SeenPush>;
}

const SHOWN = 6;

/**
 * Counts the lines of a journal as they arrive; memory grows only with the number of notifications. Undefined without
 * pushes.
 */
const digestPushes = async (lines: AsyncIterable<PushLine>): Promise<PushDigest | undefined> => {
  const attempts = new Map<string, number>();
  const answers = new Map<string, number>();
  const sample = sampler<SeenPush>(SHOWN, 0);
  let [pushes, others] = [0, 0];
  for await (const line of lines) {
    if (line.kind !== "push") continue;
    if (line.attempt === 0) {
      others += 1;
      continue;
    }
    sample.add(line);
    pushes += 1;
    const id = line.notificationId ?? `without an id ${line.n}`;
    attempts.set(id, Math.max(attempts.get(id) ?? 0, line.attempt));
    const answer = line.status === undefined ? line.action : String(line.status);
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
  }
  if (pushes === 0) return undefined;
  return {
    pushes,
    notifications: attempts.size,
    attempts: tally([...attempts.values()]),
    answers: [...answers].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    others,
    sample: sample.sampled(),
  };
};

const tally = (numbers: readonly number[]): readonly number[] => {
  const counts: number[] = [];
  for (const number of numbers) counts[number - 1] = (counts[number - 1] ?? 0) + 1;
  return Array.from(counts, (count) => count ?? 0);
};
