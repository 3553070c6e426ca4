import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { LoadRecord } from "../conformance/contract/load-record.ts";
import { figure, runCli } from "../conformance/testing/measure.ts";
import { loadDefects, loadVariants } from "./index.ts";
import type { LoadShow } from "./registry.ts";

/** What a load run found: rules that were broken, objectives that were missed. */
const loaded = async (behaviour: string, { scenario, rate, seconds }: LoadShow) => {
  const folder = await mkdtemp(path.join(tmpdir(), "touchstone-bench-"));
  const asked = {
    behaviour,
    scenario,
    rate,
    duration: `${seconds}s`,
    seed: 1,
    out: path.join(folder, "run"),
  };
  const flags = Object.entries(asked).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const { stdout, stderr } = await runCli(["load", "--json", ...flags]);
  await rm(folder, { recursive: true, force: true });
  if (stdout === "") throw new Error(`no load run on ${behaviour}: ${stderr}`);
  const { rules, objectives } = JSON.parse(stdout) as LoadRecord;
  return {
    broken: rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id),
    missed: objectives.filter(({ verdict }) => verdict === "breached").map(({ name }) => name),
  };
};

const tell = (line: string): void => void process.stdout.write(`  ${line}\n`);

/** Defects that only load shows, each under the load that is to show it; and conforming services under the same loads. */
export const loadDetection = async (): Promise<void> => {
  let caught = 0;
  for (const [name, { breaks, misses, shownBy }] of Object.entries(loadDefects)) {
    const { broken, missed } = await loaded(name, shownBy);
    const unseen = [
      ...breaks.filter((id) => !broken.includes(id)),
      ...(misses === undefined || missed.includes(misses) ? [] : [misses]),
    ];
    if (unseen.length === 0) caught += 1;
    else tell(`${name}: ${unseen.join(", ")} was not seen`);
  }
  figure(
    "defects that load shows, caught under the right rule or objective",
    `${caught} of ${Object.keys(loadDefects).length}`,
    "all",
  );

  const loads: readonly LoadShow[] = (["token", "notifications", "mixed", "push"] as const).map(
    (scenario) => ({ scenario, rate: 300, seconds: 6 }),
  );
  let alarms = 0;
  for (const name of ["sound", ...Object.keys(loadVariants)])
    for (const load of loads) {
      const { broken } = await loaded(name, load);
      alarms += broken.length;
      if (broken.length > 0) tell(`${name}: ${broken.join(", ")} under ${load.scenario}`);
    }
  figure("rules that load calls broken on conforming services", `${alarms}`, "0");
};
