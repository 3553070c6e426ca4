import { scenarioNames } from "../conformance/contract/load-shape.ts";
import path from "node:path";
import type { LoadRecord } from "../conformance/contract/load-record.ts";
import { isBreach } from "../conformance/contract/verdict.ts";
import { rules } from "../conformance/rules/index.ts";
import { judgeAll } from "../conformance/testing/judge.ts";
import { figure, runCli } from "../conformance/testing/measure.ts";
import { loadDefects, loadVariants } from "../fake-server/index.ts";
import type { LoadShow } from "../fake-server/registry.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

/** Results of a load run: broken rules, missed objectives, and validity. */
interface Found {
  readonly broken: readonly string[];
  readonly missed: readonly string[];
  readonly valid: boolean;
}

const loaded = async (
  behaviour: string,
  { scenario, rate, seconds }: LoadShow,
  seed: number,
): Promise<Found> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const asked = { behaviour, scenario, rate, duration: `${seconds}s`, seed, out: path.join(folder, "run") };
  const flags = Object.entries(asked).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const { stdout, stderr } = await runCli(["load", "--json", ...flags]);
  if (stdout === "") throw new Error(`no load run on ${behaviour}: ${stderr}`);
  const { rules, objectives, validity } = JSON.parse(stdout) as LoadRecord;
  return {
    broken: rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id),
    missed: objectives.filter(({ verdict }) => verdict === "breached").map(({ name }) => name),
    valid: validity?.valid === true,
  };
};

const tell = (line: string): void => void process.stdout.write(`  ${line}\n`);

/**
 * Defects that only load shows, each under the load meant to show it, and conforming services under every scenario.
 * TOUCHSTONE_BENCH_SEEDS is the number of seeds for each, one by default.
 */
export const loadDetection = async (
  seeds = Number(process.env["TOUCHSTONE_BENCH_SEEDS"] ?? 1),
): Promise<void> => {
  for (let seed = 1; seed <= seeds; seed += 1) {
    if (seeds > 1) process.stdout.write(`seed ${seed}\n`);
    await tellCaught(seed);
    await tellAlarms(seed);
  }
  await tellOfGate();
};

const tellCaught = async (seed: number): Promise<void> => {
  let caught = 0;
  for (const [name, { breaks, misses, shownBy }] of Object.entries(loadDefects)) {
    const { broken, missed } = await loaded(name, shownBy, seed);
    const unseen = [
      ...breaks.filter((id) => !broken.includes(id)),
      ...(misses === undefined || missed.includes(misses) ? [] : [misses]),
    ];
    if (unseen.length === 0) caught += 1;
    else tell(`${name}: ${unseen.join(", ")} was not seen`);
  }
  figure(
    "load defects caught under the right rule or objective",
    `${caught} of ${Object.keys(loadDefects).length}`,
    "all",
  );
};

/** The rules that load shows broken, judged by the gate, which sends few concurrent requests. */
const tellOfGate = async (): Promise<void> => {
  let [judged, broken] = [0, 0];
  for (const [behaviour, { breaks }] of Object.entries(loadDefects)) {
    const results = await judgeAll(
      rules.filter(({ requirement }) => breaks.includes(requirement)),
      { behaviour },
    );
    judged += results.length;
    broken += results.filter(({ verdict }) => isBreach(verdict)).length;
  }
  figure("rules of these defects that the gate finds broken as well", `${broken} of ${judged}`, "few; shown");
};

const tellAlarms = async (seed: number): Promise<void> => {
  const services = ["sound", ...Object.keys(loadVariants)];
  let [alarms, valid] = [0, 0];
  for (const name of services)
    for (const scenario of scenarioNames) {
      const found = await loaded(name, { scenario, rate: 300, seconds: 6 }, seed);
      alarms += found.broken.length;
      if (found.valid) valid += 1;
      if (found.broken.length > 0) tell(`${name}: ${found.broken.join(", ")} under ${scenario}`);
    }
  figure("rules reported as broken on conforming services", `${alarms}`, "0");
  figure(
    `  valid loads, of ${services.length} services in ${scenarioNames.length} scenarios`,
    `${valid} of ${services.length * scenarioNames.length}`,
    "none; shown",
  );
};
