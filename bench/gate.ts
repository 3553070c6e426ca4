import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { recordFiles } from "../conformance/contract/files.ts";
import type { PushLine } from "../conformance/contract/push.ts";
import { countersOf } from "../conformance/testing/fake.ts";
import { figure, mebibytes, runCli, seconds, type Measured } from "../conformance/testing/measure.ts";
import { startServed } from "./served.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const ROUNDS = 3;

interface Ratios {
  /** To as many exchanges with the service. */
  readonly toExchanges: number;
  /** To as many exchanges with the service and pushes over TLS, on as many connections. */
  readonly toExchangesAndPushes: number;
}

/** CPU time of the gate as a multiple of what undici and fastify alone take. */
const ratiosToBare = (cpuMs: number, run: string): Ratios => {
  const linesOf = (name: string): readonly string[] =>
    readFileSync(path.join(run, name), "utf8").trimEnd().split("\n");
  const pushes = linesOf(recordFiles.pushes)
    .map((line) => JSON.parse(line) as PushLine)
    .filter((line) => line.kind === "push");
  const counts = [
    linesOf(recordFiles.exchanges).length,
    pushes.length,
    new Set(pushes.map(({ connection }) => connection.id)).size,
  ];
  const bare = path.join(import.meta.dirname, "./bare-exchanges.ts");
  const { exchangesMs, withPushesMs } = JSON.parse(
    execFileSync(process.execPath, [bare, ...counts.map(String)], { encoding: "utf8" }),
  ) as { readonly exchangesMs: number; readonly withPushesMs: number };
  return { toExchanges: cpuMs / exchangesMs, toExchangesAndPushes: cpuMs / withPushesMs };
};

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
  const ratios = rounds.map(({ cpuMs }, round) => ratiosToBare(cpuMs, path.join(folder, String(round))));
  const median = (ratio: keyof Ratios): string =>
    (ratios.map((one) => one[ratio]).toSorted((a, b) => a - b)[1] ?? 0).toFixed(1);
  // The goal is for exchanges; a gate also sends and receives pushes, which the second figure lets the bare ones do too.
  figure(
    "its CPU time / bare undici's and fastify's, exchanges alone, median of 3",
    median("toExchanges"),
    "at most 4",
  );
  figure("the same, exchanges and pushes over TLS", median("toExchangesAndPushes"), "none of its own");
  figure(
    "memory of the gate, highest of 3",
    mebibytes(Math.max(...rounds.map(({ peakBytes }) => peakBytes))),
    "under 300 MiB",
  );
  for (const clock of ["frozen", "flowing"] as const) await tellClockMoves(folder, clock);
};
