import path from "node:path";
import type { DetectReport } from "../conformance/contract/detect.ts";
import { countersOf } from "../conformance/testing/fake.ts";
import {
  endedCpuMs,
  figure,
  mebibytes,
  runCli,
  seconds,
  type Measured,
} from "../conformance/testing/measure.ts";
import { startServed } from "./served.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const ROUNDS = 3;

/** A whole gate that passes, in a process of its own. */
const passed = async (round: number, out: string, ...more: readonly string[]): Promise<Measured> => {
  const ran = await runCli(["conform", "--quiet", "--seed", String(round), "--out", out, ...more]);
  if (ran.exitCode !== 0) throw new Error(`the gate ended with exit code ${ran.exitCode}: ${ran.stdout}`);
  return ran;
};

/** Counts how often gates move the clock of a service in another process, as that service sees it. */
const tellClockMoves = async (folder: string, clock: "frozen" | "flowing"): Promise<void> => {
  const moves = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const out = path.join(folder, `${clock}-${round}`);
    const profile = `${out}.json`;
    await using service = await startServed(profile, ["--clock", clock]);
    await passed(round, out, "--profile", profile, "--strict");
    moves.push((await countersOf(service)).clockMoves);
  }
  figure(
    `calls of hooks.clock.advance in a gate, clock ${clock}, ${ROUNDS} gates`,
    moves.join(", "),
    "at most 150",
  );
};

/**
 * Measures the whole gate on the embedded fake from the command line, including start-up, and its memory; then how often
 * it moves the clock of a service that is judged by its profile.
 */
export const gate = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push(await passed(round, path.join(folder, String(round))));
  const times = rounds.map(({ wallMs }) => wallMs).toSorted((a, b) => a - b);
  figure("whole gate, standard effort, median of 3", seconds(times[1] ?? 0), "under 10 s");
  figure(
    "memory of the gate, highest of 3",
    mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
    "under 300 MiB",
  );
  for (const clock of ["frozen", "flowing"] as const) await tellClockMoves(folder, clock);
};

/** Measures detection at quick effort on all cores. */
export const detect = async (): Promise<void> => {
  const spentMs = endedCpuMs();
  const { wallMs, stdout } = await runCli(["detect", "--json", "--seed", "1"]);
  // Its processes judge, and it waits for them: its own time says little.
  const cpuMs = endedCpuMs() - spentMs;
  const { defects, variants } = JSON.parse(stdout) as DetectReport;
  figure("touchstone detect, quick effort", seconds(wallMs), "under 60 s");
  figure("its CPU time, with that of its processes", seconds(cpuMs), "under 120 s");
  figure("seeded defects killed", `${defects.killed} of ${defects.total}`, "all");
  figure(
    "variants without a false alarm",
    `${variants.total - new Set(variants.falseAlarms.map(({ variant }) => variant)).size} of ${variants.total}`,
    "all",
  );
};
