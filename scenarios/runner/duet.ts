import path from "node:path";
import type { Block, BrokenRule, PlannedPair, Side } from "../../conformance/contract/duet.ts";
import { serviceRows, type EndpointRow, type LoadRecord } from "../../conformance/contract/load-record.ts";
import { duetScenarioNames } from "../../conformance/contract/load-shape.ts";
import { wholeWarmUpMs } from "./asked-run.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { load } from "./load.ts";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

const LEAST_BLOCK_MS = 2_000;

/**
 * The flags of `touchstone duet` as the load of one block. Throws ConfigurationError with every problem, each naming
 * its flag.
 */
export const parseBlock = (flags: {
  readonly scenario: string;
  readonly rate: number;
  readonly blockMs: number;
  readonly seed: number;
}): LoadPlan => {
  const { rate, blockMs: durationMs, seed } = flags;
  const scenario = duetScenarioNames.find((name) => name === flags.scenario);
  const problems = [
    scenario === undefined &&
      `--scenario is "${flags.scenario}"; accepted for a duet are ${duetScenarioNames.join(", ")}`,
    durationMs < LEAST_BLOCK_MS &&
      `--block is ${durationMs / 1_000}s; accepted is ${LEAST_BLOCK_MS / 1_000}s or longer`,
  ].filter((one) => one !== false);
  if (scenario === undefined || problems.length > 0) throw new ConfigurationError(problems);
  return { scenario, shape: "constant", rate, durationMs, warmUpMs: wholeWarmUpMs(durationMs / 5), seed };
};

export interface DuetContext {
  readonly a: LoadContext;
  readonly b: LoadContext;
  /** A constant rate; the duration is that of one block, warm-up included. */
  readonly plan: LoadPlan;
  /** The order of the two blocks of each pair. */
  readonly schedule: Iterator<PlannedPair>;
  /** Whether these blocks require another pair. */
  readonly goesOn: (blocks: readonly Block[]) => boolean;
  readonly onBlock?: (block: {
    readonly pair: number;
    readonly side: Side;
    readonly record: LoadRecord;
  }) => void;
  readonly onPair?: (played: PlayedDuet) => void;
  readonly signal: AbortSignal;
}

export interface PlayedDuet {
  readonly blocks: readonly Block[];
  /** Rules that a side broke under load, which matters more than speed. */
  readonly broken: readonly BrokenRule[];
  readonly interrupted: boolean;
}

/** Plays pairs of blocks on two targets until there are enough. Each block has its own record below `out`. */
export const playDuet = async (context: DuetContext, out: string): Promise<PlayedDuet> => {
  const { plan, schedule, goesOn, onBlock, onPair, signal } = context;
  const blocks: Block[] = [];
  const broken = new Map<string, BrokenRule>();
  const looked = new Set<Side>();
  const soFar = (): PlayedDuet => ({
    blocks: [...blocks],
    broken: [...broken.values()],
    interrupted: signal.aborted,
  });
  while (!signal.aborted && goesOn(blocks)) {
    const next = schedule.next();
    if (next.done === true) break;
    const { pair, order } = next.value;
    const played: Block[] = [];
    for (const side of order) {
      if (signal.aborted) break;
      const name = `${String(pair + 1).padStart(3, "0")}-${side}`;
      const asked = { ...plan, isKnown: looked.has(side) };
      const record = await load(context[side], asked, path.join(out, "blocks", name)).catch(
        (error: unknown) => {
          // An interruption ends a block anywhere, and may look like a failure there.
          if (signal.aborted) return undefined;
          throw error;
        },
      );
      if (record === undefined) break;
      looked.add(side);
      for (const { id: rule, breaches } of record.rules) {
        const { times } = broken.get(`${side} ${rule}`) ?? { times: 0 };
        if (breaches > 0) broken.set(`${side} ${rule}`, { side, rule, times: times + breaches });
      }
      played.push(...blocksOf(record, pair, side));
      onBlock?.({ pair, side, record });
    }
    // Half a pair says nothing.
    if (signal.aborted) break;
    blocks.push(...played);
    onPair?.(soFar());
  }
  return soFar();
};

/**
 * The service's endpoints as blocks; an invalid load spoils its block, and so its pair. If nothing was granted, one
 * spoilt block without an endpoint says so.
 */
const blocksOf = (record: LoadRecord, pair: number, side: Side): readonly Block[] => {
  const reasons = (record.validity?.reasons ?? []).map(({ reason }) => reason);
  const spoilt = reasons.length > 0 ? reasons.join("; ") : record.stopped;
  const rows = serviceRows(record.endpoints);
  if (rows.every(({ outcome }) => outcome !== "granted"))
    return [{ ...nothing, pair, side, spoilt: spoilt ?? "no requests were granted" }];
  const seconds = Math.max(1, (record.durationMs - record.warmUpMs) / 1_000);
  return [...Map.groupBy(rows, ({ endpoint }) => endpoint)].map(([endpoint, outcomes]) => {
    const of = (wanted: EndpointRow["outcome"]) => outcomes.find(({ outcome }) => outcome === wanted);
    const { p50Ms, p95Ms, p99Ms, count } = of("granted")?.response ?? { ...nothing, count: 0 };
    return {
      pair,
      side,
      endpoint,
      p50Ms,
      p95Ms,
      p99Ms,
      throughput: count / seconds,
      requests: outcomes.reduce((sum, { service }) => sum + service.count, 0),
      failed: of("failed")?.service.count ?? 0,
      ...(spoilt === undefined ? {} : { spoilt }),
    };
  });
};

const nothing = { endpoint: "", p50Ms: 0, p95Ms: 0, p99Ms: 0, throughput: 0 } as const;
