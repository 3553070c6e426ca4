import type { Breach } from "../contract/verdict.ts";

/** A breach, for tests in which it does not matter what was seen. */
export const breach = (more: Partial<Breach> = {}): Breach => ({
  expected: "right",
  actual: "wrong",
  evidence: [],
  reproduction: { seed: 1, replayed: { failures: 1, attempts: 1 } },
  ...more,
});
