import type { LoadBreach } from "../../conformance/contract/load-record.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import type { RecordedGate, RecordedLoad, GateRun, LoadRun, Run } from "../read/index.ts";
import { type Course, courseOf } from "./course.ts";

/** A gate run as far as it was read: evidence only if its files were read. */
export interface GateView extends RecordedGate {
  /** Exchanges of each rule that was not broken; a broken rule's exchanges are in the record. */
  readonly evidence?: ReadonlyMap<string, Sampled<ExchangeRecord>>;
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
