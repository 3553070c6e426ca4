import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import path from "node:path";
import { temporaryBase } from "../conformance/files/folders.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

/**
 * Starts the fake in a separate process, so that load on it takes no CPU time from the measuring process. `program` is
 * Touchstone's own command line. The process ends with this one in all cases, because it lives as long as its standard
 * input. Rejects with ConfigurationError if that process exits with the exit code for one. The profile is for it; its
 * secrets are in files beside it, which only the owner can read.
 */
export const startFakeProcess = async (program: readonly [string, ...string[]], behaviour: string) => {
  const folder = await mkdtemp(temporaryBase("fake"));
  const profileFile = path.join(folder, "profile.json");
  const [command, ...parameters] = program;
  const child = spawn(
    command,
    [
      ...parameters,
      "serve",
      "--json",
      "--while-stdin",
      "--behaviour",
      behaviour,
      "--write-profile",
      profileFile,
    ],
    // A separate process group: Ctrl-C is for this process, which ends the load before the service.
    { stdio: ["pipe", "pipe", "pipe"], detached: true },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await listening(child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { profileFile, stop };
};

const listening = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-4_000)));
    child.stdin?.on("error", () => undefined);
    child.stdout?.once("data", () => resolve());
    child.stdout?.resume();
    child.once("error", (error) => reject(error));
    child.once("close", (code) => {
      const why = said.trim().replace(/^touchstone: /, "") || `it ended with exit code ${code}`;
      reject(
        code === exitCodes.usage ? new ConfigurationError(why) : new Error(`the fake did not start: ${why}`),
      );
    });
  });
