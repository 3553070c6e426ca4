import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { runnerClock } from "../clock.ts";
import { findK6, type FoundK6 } from "../k6/find.ts";

/** How long the first test that needs k6 may wait for the build. */
export const k6WithinMs = 900_000;

/** The k6 of load runs, for tests; built into the user's cache if there is none. */
export const k6ForTests = (): Promise<FoundK6> =>
  findK6({
    environment: process.env,
    clock: runnerClock,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });

/** Runs a script in a k6 without anything of ours, and gives its log. */
export const playBare = async (
  script: string,
  { flags = [], env = {} }: { readonly flags?: readonly string[]; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<string> => {
  const { path } = await k6ForTests();
  const usual = ["--quiet", "--summary-mode=disabled", "--no-thresholds", "--no-usage-report", "--address="];
  // In its own session, like ours, because Linux first divides CPU time among sessions.
  const child = spawn(path, ["run", ...usual, ...flags, script], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  const [log, [exitCode]] = await Promise.all([text(child.stderr), once(child, "close")]);
  if (exitCode !== 0) throw new Error(`a bare k6 ended with exit code ${exitCode}: ${log}`);
  return log;
};
