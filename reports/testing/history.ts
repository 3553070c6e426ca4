import type { History } from "../history/index.ts";

export const historyDays = Array.from({ length: 12 }, (_, day) => ({
  name: `load-${day}`,
  startedAt: new Date(Date.UTC(2030, 0, day + 1)).toISOString(),
}));

/** A history of twelve load runs: one latency changed, and one rule failed in every other run. */
export const madeHistory = (more: Partial<History> = {}): History => ({
  folder: "runs",
  inFolder: historyDays.length,
  runs: historyDays.map((day) => ({
    ...day,
    kind: "load",
    state: "sealed",
    outcome: "passed",
    target: "staging",
    scenario: "mixed",
    rate: 100,
  })),
  trends: [
    {
      target: "staging",
      scenario: "mixed",
      shape: "constant",
      rate: 100,
      fingerprint: "{}",
      endpoint: "list",
      metric: "p95",
      points: historyDays.map((day, at) => ({ ...day, value: at < 6 ? 4 : 8 })),
      changes: [{ at: 6, p: 0.005, before: 4, after: 8 }],
    },
  ],
  rules: [
    {
      id: "code.single-use",
      target: "staging",
      kind: "conform",
      points: historyDays.map((day, at) => ({ ...day, verdict: at % 2 === 0 ? "passed" : "failed" })),
    },
  ],
  flaky: [
    { id: "code.single-use", target: "staging", kind: "conform", judged: 12, failed: 6, flips: 11, rate: 1 },
  ],
  leftOut: [],
  problems: [{ name: "broken", problem: "run.json is damaged" }],
  ...more,
});
