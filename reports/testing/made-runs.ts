import path from "node:path";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { compareRuns } from "../compare/compare.ts";
import type { Comparison } from "../compare/shape.ts";
import { readRun, type GateRun, type LoadRun, type Run } from "../read/index.ts";
import type { History } from "../history/history.ts";
import { recordOf } from "./fixture.ts";
import { writeLoadRun, type LoadRunSpec } from "./records.ts";

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

let made = 0;

/** A gate run that was never written: a comparison only needs its record. */
export const gateOf = (record: Partial<RunRecord>): GateRun => ({
  kind: "conform",
  directory: `runs/gate-${(made += 1)}`,
  record: recordOf(record),
  exchanges: async function* () {},
  pushes: async function* () {},
});

/** Makes the runs that the tests of a file compare. */
export const madeRuns = () => {
  const home = folderOfFile();
  return {
    home,
    gate: gateOf,
    load: async (spec: LoadRunSpec): Promise<LoadRun> => {
      const directory = path.join(home, `load-${(made += 1)}`);
      writeLoadRun(directory, spec);
      const run = await readRun(directory);
      if (run.kind !== "load") throw new Error("it is no load run");
      return run;
    },
  };
};

export const compared = async (base: Run | readonly Run[], head: Run, force = false): Promise<Comparison> =>
  compareRuns([base].flat(), head, { force });
