import type { BreakpointStep } from "../../conformance/contract/load-record.ts";

export interface SearchOptions {
  /** Rate of the first step, in requests a second; the search goes no lower than `least` and no higher than `most`. */
  readonly from: number;
  readonly least?: number;
  readonly most: number;
  /** So many steps are played and no more. */
  readonly mostSteps: number;
  /** Loads at a constant rate and says what it came to; undefined once the run is interrupted. */
  readonly step: (rate: number) => Promise<BreakpointStep | undefined>;
}

export interface SearchResult {
  readonly steps: readonly BreakpointStep[];
  /** The highest rate at which everything held; undefined where not even the first did. */
  readonly highestRate?: number;
  /** The lowest rate at which something did not, in two tries. */
  readonly lowestBroken?: number;
  /** Whether the search knows its answer as closely as it means to; otherwise it ran out of steps, or was interrupted. */
  readonly isClose: boolean;
}

/** The search ends once it knows the answer to within this share. */
const PRECISION = 0.1;

/** Shorter steps say next to nothing, because their first second is excluded. */
export const leastStepMs = 3_000;

/**
 * Enough steps for a search that begins at a sixteenth of the highest rate and holds there: five times to
 * double the rate, one more try where it gives way, and three times to halve what is left, with two tries each.
 */
const STEPS_IN_A_RUN = 12;

/** k6 takes about so long to start and to end, for each step. */
const BETWEEN_STEPS_MS = 2_000;
/** With fewer, a search tells nothing. */
const LEAST_STEPS = 2;

/** How long a step lasts, and how many there are at most, so that all of them together, with what passes between them, last no longer than this. */
export const stepsIn = (durationMs: number) => {
  const share = durationMs / STEPS_IN_A_RUN - BETWEEN_STEPS_MS;
  const stepMs = Math.max(leastStepMs, Math.floor(share / 1_000) * 1_000);
  const wholeMs = stepMs + BETWEEN_STEPS_MS;
  const mostSteps = Math.max(LEAST_STEPS, Math.floor(durationMs / wholeMs));
  return { stepMs, mostSteps, needsMs: mostSteps * wholeMs };
};

/**
 * Searches the highest rate at which the objectives hold: the rate doubles until something gives way,
 * then the interval between is halved (on the logarithm, as rates are read). A step that gives way is
 * tried a second time, since one hiccup is no limit.
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
