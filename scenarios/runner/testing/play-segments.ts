import path from "node:path";
import { root, runCli, type Measured } from "../../../conformance/testing/measure.ts";
import { startFakeProcess } from "../../../fake-server/index.ts";
import { runnerClock } from "../clock.ts";

/** A load played by processes of the command line: three, or fewer. */
export interface AskedSegments {
  readonly profileFile: string;
  readonly scenario: string;
  readonly rate: number;
  readonly seconds: number;
  readonly processes?: 2 | 3;
}

export const machines = [1, 2, 3] as const;

export const startFake = async (behaviour: string) => {
  const fake = await startFakeProcess([process.execPath, path.join(root, "cli.ts")], behaviour);
  return { profileFile: fake.profileFile, [Symbol.asyncDispose]: fake.stop };
};

/** The parameters of one process. */
export const segmentParameters = (
  { profileFile, scenario, rate, seconds, processes = machines.length }: AskedSegments,
  { index, startAt, out }: { readonly index: number; readonly startAt: string; readonly out: string },
): readonly string[] =>
  [
    ["load", "--profile", profileFile, "--scenario", scenario, "--rate", `${rate}`],
    ["--duration", `${seconds}s`, "--segment", `${index}/${processes}`],
    ["--run-id", "R", "--start-at", startAt, "--out", out],
  ].flat();

/** How long the processes may take to be ready: a busy machine gets longer. */
const leadsMs = [25_000, 150_000];

export const startIn = (leadMs: number): string =>
  new Date(runnerClock.wallTime().getTime() + leadMs).toISOString();

const isLate = ({ exitCode, stdout, stderr }: Measured): boolean =>
  exitCode !== 0 &&
  /its set-up outlasted the start|--start-at is .* it has already passed/.test(stdout + stderr);

/** Plays the load, again with a longer lead if that was too short, and returns the folders of the records. */
export const playSegments = async (folder: string, asked: AskedSegments, env: NodeJS.ProcessEnv = {}) => {
  for (const leadMs of leadsMs) {
    const recordOf = (index: number): string => path.join(folder, `records-${leadMs}`, String(index));
    const startAt = startIn(leadMs);
    const played = await Promise.all(
      machines
        .slice(0, asked.processes)
        .map((index) => runCli(segmentParameters(asked, { index, startAt, out: recordOf(index) }), { env })),
    );
    if (!played.some(isLate) || leadMs === leadsMs.at(-1)) return { recordOf, played };
  }
  throw new Error("unreachable: the last lead returns");
};
