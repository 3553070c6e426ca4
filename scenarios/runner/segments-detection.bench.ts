import path from "node:path";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { figure, root, runCli } from "../../conformance/testing/measure.ts";
import { loadDefects, startFakeProcess } from "../../fake-server/index.ts";
import { runnerClock } from "./clock.ts";
import { temporaryFolder } from "./testing/loads.ts";

interface Asked {
  readonly scenario: string;
  readonly rate: number;
  readonly seconds: number;
}

const MACHINES = [1, 2, 3] as const;
/** As long as three processes may take to be ready. */
const LEAD_MS = 20_000;

/** What three segments of a load find together on a service. */
const mergedLoad = async (behaviour: string, { scenario, rate, seconds }: Asked): Promise<LoadRecord> => {
  using folder = temporaryFolder();
  const fake = await startFakeProcess([process.execPath, path.join(root, "cli.ts")], behaviour);
  try {
    const startAt = new Date(runnerClock.wallTime().getTime() + LEAD_MS).toISOString();
    const common = ["--profile", fake.profileFile, "--scenario", scenario, "--rate", String(rate)];
    const recordOf = (index: number): string => path.join(folder.path, String(index));
    await Promise.all(
      MACHINES.map((index) =>
        runCli(
          [
            ["load", ...common, "--duration", `${seconds}s`, "--start-at", startAt, "--run-id", behaviour],
            ["--segment", `${index}/${MACHINES.length}`, "--out", recordOf(index)],
          ].flat(),
        ),
      ),
    );
    const out = path.join(folder.path, "merged");
    const { stdout, stderr } = await runCli(["merge", ...MACHINES.map(recordOf), "--out", out, "--json"]);
    if (stdout === "") throw new Error(`no merged run on ${behaviour}: ${stderr}`);
    return JSON.parse(stdout) as LoadRecord;
  } finally {
    await fake.stop();
  }
};

const brokenIn = ({ rules }: LoadRecord): readonly string[] =>
  rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id);

/** Defects that only load shows, by three segments of the load that is to show each; `push` is of one machine. TOUCHSTONE_BENCH_ONLY names some. */
export const segmentDetection = async (
  only = process.env["TOUCHSTONE_BENCH_ONLY"]?.split(",") ?? Object.keys(loadDefects),
): Promise<void> => {
  const tried = Object.entries(loadDefects).filter(
    ([name, { shownBy }]) => only.includes(name) && shownBy.scenario !== "push",
  );
  let caught = 0;
  for (const [name, { breaks, misses, shownBy }] of tried) {
    const record = await mergedLoad(name, shownBy);
    const missed = record.objectives.filter(({ verdict }) => verdict === "breached").map((one) => one.name);
    const unseen = [
      ...breaks.filter((id) => !brokenIn(record).includes(id)),
      ...(misses === undefined || missed.includes(misses) ? [] : [misses]),
    ];
    if (unseen.length === 0) caught += 1;
    else process.stdout.write(`  ${name}: ${unseen.join(", ")} was not seen\n`);
  }
  figure("defects that load shows, caught by three segments", `${caught} of ${tried.length}`, "as by one");
  let alarms = 0;
  for (const scenario of ["token", "notifications", "mixed"])
    alarms += brokenIn(await mergedLoad("sound", { scenario, rate: 150, seconds: 6 })).length;
  figure("rules that three segments call broken on the sound service", String(alarms), "0");
};
