import http from "node:http";
import path from "node:path";
import { median } from "../../reports/statistics/sample.ts";
import { countersOf } from "../../conformance/testing/fake.ts";
import { figure, runCli, seconds } from "../../conformance/testing/measure.ts";
import { startServed } from "../served.ts";
import { listening, passOn } from "../../conformance/testing/servers.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { besideLoops } from "./busy-loops.ts";

const LOOPS = 2;
const CLOCKS = ["flowing", "frozen"] as const;

/** Passes calls of hooks on, and adds up how long the service took to move its clock. */
const startStopwatch = async (controlUrl: string) => {
  let movingMs = 0;
  const server = await listening(
    http.createServer((asked, answer) => {
      const beganMs = performance.now();
      if (asked.url === "/clock/advance")
        answer.once("close", () => void (movingMs += performance.now() - beganMs));
      passOn(controlUrl, asked, answer);
    }),
  );
  return { ...server, movingMs: () => movingMs };
};

const play = async (number: number, clock: (typeof CLOCKS)[number], folder: string) => {
  const profile = path.join(folder, `${number}.json`);
  const seed = ["--seed", String(number)];
  await using service = await startServed(profile, ["--clock", clock, ...seed]);
  await using hooks = await startStopwatch(service.controlUrl);
  service.reachBy({ hooks: hooks.origin });
  const out = path.join(folder, String(number));
  const asked = ["conform", "--quiet", "--profile", profile, "--strict", ...seed, "--out", out];
  const { exitCode, wallMs, stdout } = await besideLoops(LOOPS, () => runCli(asked));
  const besideHooksMs = wallMs - hooks.movingMs();
  process.stdout.write(
    `  gate ${number}, ${clock}: exit code ${exitCode}, ${seconds(wallMs)}, ${seconds(besideHooksMs)} beside the hook of the clock, ${(await countersOf(service)).clockMoves} calls of it\n`,
  );
  if (exitCode !== 0) process.stdout.write(stdout);
  return { clock, exitCode, wallMs, besideHooksMs };
};

/** Plays this many gates of the sound service in another process, in turns on both kinds of clock. */
export const soundGates = async (count: number): Promise<void> => {
  using temporary = temporaryFolder();
  const gates = [];
  for (let number = 1; number <= count; number += 1)
    gates.push(await play(number, CLOCKS[number % 2] ?? "flowing", temporary.path));
  for (const clock of CLOCKS) {
    const all = gates.filter((one) => one.clock === clock);
    const passed = all.filter(({ exitCode }) => exitCode === 0);
    const name = `noise: gates of the sound service beside ${LOOPS} busy loops, clock ${clock}`;
    figure(`${name}: exit code 0`, `${passed.length} of ${all.length}`, "all");
    const times = (of: "wallMs" | "besideHooksMs"): string => seconds(median(all.map((one) => one[of])));
    figure(
      "  median time; the same beside the hook of the clock",
      `${times("wallMs")}; ${times("besideHooksMs")}`,
      "none; shown",
    );
  }
};
