import path from "node:path";
import type { BreakpointStep, LoadRecord } from "../../conformance/contract/load-record.ts";
import type { ShapeName } from "../../conformance/contract/load-shape.ts";
import type { Outcome } from "../../conformance/contract/record.ts";
import { traits } from "../lib/mix.ts";
import { searchBreakpoint, stepsIn, type SearchResult } from "./breakpoint.ts";
import { checkPlan } from "./check-plan.ts";
import type { LoadContext, LoadPlan } from "./context.ts";
import { load, recorded } from "./load.ts";
import { pick, type LoadFinal, type LoadRecordWriter } from "./record.ts";
import { stepOf } from "./step.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

export type AskedRun = Omit<LoadPlan, "shape"> & { readonly shape: ShapeName };

/** Runs what was requested and writes its record to `out`; each step of a search has its own record below it. */
export const loadByShape = (context: LoadContext, asked: AskedRun, out: string): Promise<LoadRecord> => {
  const { shape } = asked;
  return shape === "breakpoint" ? search(context, asked, out) : load(context, { ...asked, shape }, out);
};

/** The first step's share of the highest rate. */
const FIRST_SHARE = 1 / 16;
/** A step with fewer iterations says nothing. */
const LEAST_ARRIVALS = 10;

const search = async (context: LoadContext, asked: AskedRun, out: string): Promise<LoadRecord> => {
  const { stepMs, mostSteps, needsMs } = stepsIn(asked.durationMs);
  context.onPhase?.(
    `searching in at most ${mostSteps} steps of ${stepMs / 1_000} s, which takes up to about ${Math.ceil(needsMs / 1_000)} s`,
  );
  const plan: LoadPlan = {
    ...asked,
    shape: "constant",
    durationMs: stepMs,
    warmUpMs: Math.min(1_000, asked.warmUpMs),
  };
  checkPlan(context.target, { ...plan, durationMs: asked.durationMs });
  return recorded(context, asked, out, (writer) =>
    playSearch(context, writer, { asked, plan, stepMs, mostSteps }),
  );
};

interface PlannedSearch extends Pick<ReturnType<typeof stepsIn>, "stepMs" | "mostSteps"> {
  readonly asked: AskedRun;
  /** A step's load, but for its rate. */
  readonly plan: LoadPlan;
}

const playSearch = async (
  context: LoadContext,
  writer: LoadRecordWriter,
  { asked, plan, stepMs, mostSteps }: PlannedSearch,
): Promise<LoadFinal> => {
  const records: LoadRecord[] = [];
  const step = async (rate: number): Promise<BreakpointStep | undefined> => {
    if (context.signal.aborted) return undefined;
    const number = records.length + 1;
    const name = `step ${number}: ${Math.round(rate)} requests/s`;
    const inStep = contextOfStep(context, writer, name, { stepMs, before: records.length });
    inStep.onPhase?.(undefined);
    const record = await load(
      inStep,
      { ...plan, rate, isKnown: records.length > 0 },
      path.join(writer.directory, "steps", `step-${String(number).padStart(2, "0")}-${Math.round(rate)}`),
    ).catch((error: unknown) => {
      // An interruption ends a step anywhere, and may look like a failure there.
      if (context.signal.aborted) return undefined;
      throw error;
    });
    if (record === undefined) return undefined;
    records.push(record);
    if (record.outcome === "interrupted") return undefined;
    const result = stepOf(record);
    context.onPhase?.(`${name} ${result.verdict}`);
    return result;
  };
  const wanted = (LEAST_ARRIVALS * 1_000 * traits[asked.scenario].requestsPerIteration) / stepMs;
  const least = Math.min(asked.rate, Math.ceil(wanted));
  const found = await searchBreakpoint({
    from: Math.max(least, Math.round(asked.rate * FIRST_SHARE)),
    least,
    most: asked.rate,
    mostSteps,
    step,
  });
  context.onPhase?.(undefined);
  return summaryOf(context, records, found);
};

/**
 * The course of a search joins its steps without the pauses between them; answers after the end of a step count in its
 * last second.
 */
const contextOfStep = (
  context: LoadContext,
  writer: LoadRecordWriter,
  name: string,
  { stepMs, before }: { readonly stepMs: number; readonly before: number },
): LoadContext => ({
  ...context,
  onPhase: (phase) => context.onPhase?.(phase === undefined ? name : `${name}, ${phase}`),
  onSecond: (second) => {
    const stepSeconds = stepMs / 1_000;
    const inStep = Math.min(second.line.second, stepSeconds - 1);
    const line = { ...second.line, second: before * stepSeconds + inStep };
    writer.second(line);
    context.onSecond?.({ ...second, line });
  },
});

/** The fields of a step's record that a search reports. */
const summarized = ["achieved", "validity", "k6", "endpoints", "objectives", "rules", "breaches"] as const;

/** The search as one run: the figures of the best step, or of the one that broke a rule. */
const summaryOf = (context: LoadContext, records: readonly LoadRecord[], found: SearchResult): LoadFinal => {
  const { steps, highestRate } = found;
  const best = records.findLast(({ rate, outcome }) => rate === highestRate && outcome === "passed");
  const broken = records.find(({ rules }) => rules.some(({ breaches }) => breaches > 0));
  const shown = broken ?? best ?? records.at(-1);
  const outcome = outcomeOf(context, found, broken !== undefined);
  return {
    ...(shown && pick(shown, summarized)),
    endedAt: context.clock.wallTime().toISOString(),
    steps: [...steps],
    ...(highestRate === undefined ? {} : { highestRate }),
    notes: context.signal.aborted || found.isClose ? [] : [openNote(found)],
    outcome,
    exitCode: exitCodes[outcome],
  };
};

/** If the load generator spoilt every step, the service's limit is unknown. */
const outcomeOf = ({ signal }: LoadContext, found: SearchResult, isBroken: boolean): Outcome => {
  if (isBroken) return "failed";
  if (signal.aborted) return "interrupted";
  if (found.highestRate !== undefined) return "passed";
  return found.steps.every(({ verdict }) => verdict === "spoilt") ? "incomplete" : "failed";
};

/** What a search that ran out of time leaves open. */
const openNote = ({ highestRate, lowestBroken, steps }: SearchResult): string => {
  const held = highestRate === undefined ? undefined : `everything held at ${highestRate} requests/s`;
  const broke =
    lowestBroken === undefined
      ? `a second try at ${steps.at(-1)?.rate ?? 0} or a higher rate was not played`
      : `not at ${lowestBroken}`;
  return `the search used up its ${steps.length} steps before it knew the highest rate precisely: ${[held, broke].filter((one) => one !== undefined).join(", ")}. A longer --duration allows more or longer steps.`;
};
