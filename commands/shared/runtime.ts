import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import os from "node:os";

/** The oldest Node that runs Touchstone: it strips types and has SQLite built in. */
export const oldestNode = [24, 15] as const;

export const isRecentEnough = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > oldestNode[0] || (major === oldestNode[0] && minor >= oldestNode[1]);
};

/**
 * On an older Node, runs the command on the Node that the package brings as an optional dependency, and resolves with
 * its exit code; undefined if this Node suffices. Throws an Error saying what to install if there is no other Node.
 */
export const runOnBroughtNode = async (argv: readonly string[]): Promise<number | undefined> => {
  if (isRecentEnough(process.versions.node)) return undefined;
  const node = broughtNode();
  if (node === undefined)
    throw new Error(
      `Touchstone runs on Node ${oldestNode.join(".")} or later; this is ${process.versions.node}, and the package brings none for ${os.platform()} on ${os.arch()}. Install a newer Node.`,
    );
  return runOn(node, argv);
};

/** Runs a command on the given Node, and resolves with its exit code. */
export const runOn = (node: string, argv: readonly string[]): Promise<number> => {
  // The terminal sends Ctrl-C to the whole group: the child handles it, and this process waits for the child.
  process.on("SIGINT", () => {});
  const child = spawn(node, argv.slice(1), { stdio: "inherit" });
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, signal) =>
      resolve(code ?? 128 + (signal === null ? 0 : os.constants.signals[signal])),
    );
  });
};

const broughtNode = (): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve(`node-${os.platform()}-${os.arch()}/bin/node`);
  } catch {
    return undefined;
  }
};
