import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import os from "node:os";

/** The oldest Node that runs Touchstone: types are stripped and SQLite is built in. */
export const oldestNode = [24, 15] as const;

export const isRecentEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
};

/**
 * On an older Node, runs the same command on the Node that the package brings as an optional
 * dependency, and resolves with its exit code; with undefined where this Node will do.
 * Throws an Error that says what to install where there is no other.
 */
export const runOnBroughtNode = async (argv: readonly string[]): Promise<number | undefined> => {
  if (isRecentEnough(process.versions.node)) {
    endWithStarter();
    return undefined;
  }
  const node = broughtNode();
  if (node === undefined)
    throw new Error(
      `Touchstone runs on Node ${oldestNode.join(".")} or later; this is ${process.versions.node}, and the package brings none for ${os.platform()} on ${os.arch()}. Install a newer Node.`,
    );
  return runOn(node, argv);
};

/** Runs a command on this Node for as long as this process lives, and resolves with its exit code. */
export const runOn = (node: string, argv: readonly string[]): Promise<number> => {
  // The terminal sends Ctrl-C to the whole group: the child deals with it, and this process waits for the child.
  process.on("SIGINT", () => {});
  // The channel carries nothing: it closes when this process is gone, however that comes about.
  const child = spawn(node, argv.slice(1), {
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, [STARTED_BY]: "older Node" },
  });
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : os.constants.signals[signal])),
    );
  });
};

const STARTED_BY = "TOUCHSTONE_STARTED_BY";

/**
 * The parent cannot pass SIGKILL on: once it is gone, this process is interrupted as by SIGTERM. Does nothing in a
 * process that was started directly.
 */
const endWithStarter = (): void => {
  if (process.env[STARTED_BY] === undefined) return;
  delete process.env[STARTED_BY];
  const end = (): void => void process.kill(process.pid, "SIGTERM");
  if (!process.connected) {
    end();
    return;
  }
  process.once("disconnect", end);
  // A finished run does not wait for its parent.
  process.channel?.unref();
};

const broughtNode = (): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve(`node-${os.platform()}-${os.arch()}/bin/node`);
  } catch {
    return undefined;
  }
};
