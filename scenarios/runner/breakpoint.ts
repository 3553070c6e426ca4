import type { BreakpointStep } from "../../conformance/contract/load-record.ts";

export interface SearchOptions {
  /** Rate of the first step, in requests a second; the search goes no lower than `least` and no higher than `most`. */
  readonly from: number;
  readonly least?: number;
  readonly most: number;
  /** Loads at a constant rate and says what it came to; undefined once the run is interrupted. */
  readonly step: (rate: number) => Promise<BreakpointStep | undefined>;
}

export interface SearchResult {
  readonly steps: readonly BreakpointStep[];
  /** The highest rate at which everything held; undefined where not even the first did. */
  readonly highestRate?: number;
}

/** The search ends once it knows the answer to within this share. */
const PRECISION = 0.1;
const MOST_STEPS = 16;

/**
 * Searches the highest rate at which the objectives hold: the rate doubles until something gives way,
 * then the interval between is halved (on the logarithm, as rates are read). A step that gives way is
 * tried a second time, since one hiccup is no limit.
 */
export const searchBreakpoint = async ({
  from,
  least = 1,
  most,
  step,
}: SearchOptions): Promise<SearchResult> => {
  const steps: BreakpointStep[] = [];
  let held: number | undefined;
  let broken: number | undefined;
  const holds = async (rate: number): Promise<boolean | undefined> => {
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const result = await step(rate);
      if (result === undefined) return undefined;
      steps.push(result);
      if (result.verdict === "held") return true;
    }
    return false;
  };
  let rate = Math.min(from, most);
  while (steps.length < MOST_STEPS) {
    const itHeld = await holds(rate);
    if (itHeld === undefined) break;
    if (itHeld) held = rate;
    else broken = rate;
    if (held === most || (broken !== undefined && broken <= least)) break;
    if (broken !== undefined && held !== undefined && broken / held <= 1 + PRECISION) break;
    rate = nextRate(held, broken, { least, most });
  }
  return { steps, ...(held === undefined ? {} : { highestRate: held }) };
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
