import type { BreakpointStep } from "../../conformance/contract/load-record.ts";

export interface SearchOptions {
  /** Rate of the first step, in requests per second; the search stays between `least` and `most`. */
  readonly from: number;
  readonly least?: number;
  readonly most: number;
  readonly mostSteps: number;
  /** Loads at a constant rate and returns the result; undefined once the run is interrupted. */
  readonly step: (rate: number) => Promise<BreakpointStep | undefined>;
}

export interface SearchResult {
  readonly steps: readonly BreakpointStep[];
  /** The highest rate at which everything held; undefined if even the first failed. */
  readonly highestRate?: number;
  /** The lowest rate at which something failed twice. */
  readonly lowestBroken?: number;
  /** Whether the search reached its precision; otherwise it ran out of steps or was interrupted. */
  readonly isClose: boolean;
}

/** The search ends once the answer is known to within this share. */
const PRECISION = 0.1;

/** Shorter steps say almost nothing, because their first second is excluded. */
export const leastStepMs = 3_000;

/**
 * Enough steps for a search that starts at a sixteenth of the highest rate and succeeds there: five steps to double the
 * rate, one retry where it fails, and three halvings with two tries each.
 */
const STEPS_IN_A_RUN = 12;

/** Time k6 takes to start and stop, per step. */
const BETWEEN_STEPS_MS = 2_000;
/** With fewer steps a search says nothing. */
const LEAST_STEPS = 2;

/** The length and maximum number of steps, such that all steps with the pauses between them fit in this duration. */
export const stepsIn = (durationMs: number) => {
  const share = durationMs / STEPS_IN_A_RUN - BETWEEN_STEPS_MS;
  const stepMs = Math.max(leastStepMs, Math.floor(share / 1_000) * 1_000);
  const wholeMs = stepMs + BETWEEN_STEPS_MS;
  const mostSteps = Math.max(LEAST_STEPS, Math.floor(durationMs / wholeMs));
  return { stepMs, mostSteps, needsMs: mostSteps * wholeMs };
};

/**
 * Searches for the highest rate that meets the objectives: doubles the rate until something fails, then halves the
 * remaining interval (on the logarithm). A failing step is tried a second time, because a single hiccup is not a limit.
 */
export const searchBreakpoint = async ({
  from,
  least = 1,
  most,
  mostSteps,
  step,
}: SearchOptions): Promise<SearchResult> => {
  const steps: BreakpointStep[] = [];
  let held: number | undefined;
  let broken: number | undefined;
  const holds = async (rate: number): Promise<boolean | undefined> => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      if (steps.length >= mostSteps) return undefined;
      const result = await step(rate);
      if (result === undefined) return undefined;
      steps.push(result);
      if (result.verdict === "held") return true;
    }
    return false;
  };
  const isClose = (): boolean =>
    held === most ||
    (broken !== undefined && broken <= least) ||
    (broken !== undefined && held !== undefined && broken / held <= 1 + PRECISION);
  let rate = Math.min(from, most);
  while (!isClose()) {
    const itHeld = await holds(rate);
    if (itHeld === undefined) break;
    if (itHeld) held = rate;
    else broken = rate;
    rate = nextRate(held, broken, { least, most });
  }
  return {
    steps,
    ...(held === undefined ? {} : { highestRate: held }),
    ...(broken === undefined ? {} : { lowestBroken: broken }),
    isClose: isClose(),
  };
};

const nextRate = (
  held: number | undefined,
  broken: number | undefined,
  { least, most }: { readonly least: number; readonly most: number },
): number => {
  if (broken === undefined) return Math.min(most, (held ?? least) * 2);
  if (held === undefined) return Math.max(least, Math.round(broken / 2));
  return Math.round(Math.sqrt(held * broken));
};
