export const efforts = ["quick", "standard", "thorough"] as const;
export type Effort = (typeof efforts)[number];

const casesByEffort: Record<Effort, number> = { quick: 8, standard: 25, thorough: 200 };

/** The usual number of cases at this effort, times `share`, at least `least`. */
export const casesOf = (effort: Effort, share = 1, least = 2): number =>
  Math.max(least, Math.round(casesByEffort[effort] * share));
