export const efforts = ["quick", "standard", "thorough"] as const;
export type Effort = (typeof efforts)[number];

const casesByEffort: Record<Effort, number> = { quick: 8, standard: 25, thorough: 200 };

/** The usual number of cases at this effort, times `share`, at least `least`. */
export const casesOf = (effort: Effort, share = 1, least = 2): number =>
  Math.max(least, Math.round(casesByEffort[effort] * share));

/** About how many requests a gate with all rules sends, and how many of them are refused on purpose; without retries. */
export const requestsOf: Readonly<Record<Effort, { readonly all: number; readonly refused: number }>> = {
  quick: { all: 10_000, refused: 2_200 },
  standard: { all: 15_000, refused: 3_600 },
  thorough: { all: 74_000, refused: 14_000 },
};
