import path from "node:path";
import type { BreakpointStep, LoadRecord } from "../../conformance/contract/load-record.ts";
import type { ShapeName } from "../../conformance/contract/load-shape.ts";
import { exitCodes, type Outcome } from "../../conformance/contract/record.ts";
import { requestsPerIteration } from "../lib/mix.ts";
import { searchBreakpoint } from "./breakpoint.ts";
import { checkPlan, headerOf, load, type LoadContext, type LoadPlan } from "./load.ts";
import { openLoadRecord, type LoadRecordWriter } from "./record.ts";
import { stepOf } from "./step.ts";

/** A run as it is asked for: of a fixed shape, or the search for the highest rate. */
export type AskedRun = Omit<LoadPlan, "shape"> & { readonly shape: ShapeName };

/** Runs what was asked for and leaves its record in `out`; each step of a search has a record of its own below it. */
export const loadByShape = (context: LoadContext, asked: AskedRun, out: string): Promise<LoadRecord> => {
  const { shape } = asked;
  return shape === "breakpoint" ? search(context, asked, out) : load(context, { ...asked, shape }, out);
};

/** The first step asks for this share of the highest rate. */
const FIRST_SHARE = 1 / 16;
const LEAST_STEP_MS = 3_000;
const STEPS_IN_A_RUN = 10;
/** A step of fewer iterations than this says nothing. */
const LEAST_ARRIVALS = 10;

const search = async (context: LoadContext, asked: AskedRun, out: string): Promise<LoadRecord> => {
  const stepMs = Math.max(LEAST_STEP_MS, Math.round(asked.durationMs / STEPS_IN_A_RUN));
  const plan: LoadPlan = {
    ...asked,
    shape: "constant",
    durationMs: stepMs,
    warmUpMs: Math.min(1_000, asked.warmUpMs),
  };
  checkPlan(context.target, { ...plan, durationMs: asked.durationMs });
  const writer = openLoadRecord(out, headerOf(context, asked));
  const records: LoadRecord[] = [];
  const step = async (rate: number): Promise<BreakpointStep | undefined> => {
    if (context.signal.aborted) return undefined;
    const name = `step-${String(records.length + 1).padStart(2, "0")}-${Math.round(rate)}`;
    context.onPhase?.(`step ${records.length + 1}: ${Math.round(rate)} requests/s`);
    const record = await load(context, { ...plan, rate }, path.join(out, "steps", name));
    records.push(record);
    return record.outcome === "interrupted" ? undefined : stepOf(record);
  };
  try {
    const wanted = (LEAST_ARRIVALS * 1_000 * requestsPerIteration[asked.scenario]) / stepMs;
    const least = Math.min(asked.rate, Math.ceil(wanted));
    const found = await searchBreakpoint({
      from: Math.max(least, Math.round(asked.rate * FIRST_SHARE)),
      least,
      most: asked.rate,
      step,
    });
    return writer.seal(summaryOf(context, records, found));
  } finally {
    writer.close();
  }
};

/** The search as one run: the figures of the best step, or of the one that broke a rule. */
const summaryOf = (
  context: LoadContext,
  records: readonly LoadRecord[],
  { steps, highestRate }: Awaited<ReturnType<typeof searchBreakpoint>>,
): Parameters<LoadRecordWriter["seal"]>[0] => {
  const best = records.findLast(({ rate, outcome }) => rate === highestRate && outcome === "passed");
  const broken = records.find(({ rules }) => rules.some(({ breaches }) => breaches > 0));
  const shown = broken ?? best ?? records.at(-1);
  const outcome: Outcome = context.signal.aborted
    ? "interrupted"
    : broken !== undefined || highestRate === undefined
      ? "failed"
      : "passed";
  return {
    ...(shown?.achieved === undefined ? {} : { achieved: shown.achieved }),
    ...(shown?.validity === undefined ? {} : { validity: shown.validity }),
    ...(shown === undefined
      ? {}
      : {
          k6: shown.k6,
          endpoints: shown.endpoints,
          objectives: shown.objectives,
          rules: shown.rules,
          breaches: shown.breaches,
        }),
    endedAt: context.clock.wallTime().toISOString(),
    steps: [...steps],
    ...(highestRate === undefined ? {} : { highestRate }),
    outcome,
    exitCode: exitCodes[outcome],
  };
};
