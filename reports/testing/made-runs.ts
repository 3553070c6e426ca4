import path from "node:path";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { compareRuns, type Comparison } from "../compare/index.ts";
import { seededRandom } from "../../conformance/contract/random.ts";
import { readRun, type GateRun, type LoadRun, type Run } from "../read/index.ts";
import { recordOf } from "./fixture.ts";
import { writeLoadRun, type LoadRunSpec } from "./records.ts";

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

export const compared = (base: Run | readonly Run[], head: Run, force = false): Promise<Comparison> =>
  compareRuns([base].flat(), head, { force, random: seededRandom(1) });
