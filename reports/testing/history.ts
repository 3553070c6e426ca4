import type { History } from "../history/history.ts";

const dayOf = (day: number) => ({
  name: `load-${day}`,
  startedAt: new Date(Date.UTC(2030, 0, day + 1)).toISOString(),
});
const historyDays = Array.from({ length: 12 }, (_, day) => dayOf(day));

/** A history of twelve load runs: one latency changed, and one rule failed every other time. */
export const madeHistory = (more: Partial<History> = {}): History => ({
  folder: "runs",
  inFolder: historyDays.length,
  runs: historyDays.map((day) => ({
    ...day,
    kind: "load",
    outcome: "passed",
    target: "staging",
    asked: "mixed, constant, 100/s",
  })),
  series: [
    {
      what: "list p95",
      target: "staging",
      asked: "mixed, constant, 100/s",
      points: historyDays.map((day, at) => ({ ...day, value: at < 6 ? 4 : 8 })),
      newest: { ...dayOf(6), before: 4, value: 8 },
    },
    {
      what: "code.single-use",
      target: "staging",
      asked: "gate, standard",
      points: historyDays
        .slice(0, 6)
        .map((day, at) => ({ ...day, value: at % 2 === 0 ? "passed" : "failed" })),
      newest: { ...dayOf(5), before: "passed", value: "failed" },
    },
  ],
  leftOut: [],
  problems: [{ name: "broken", problem: "run.json is damaged" }],
  ...more,
});
