import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import os from "node:os";
import v8 from "node:v8";

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

/** Limit of the young generation in bytes. By default it grows to 64 MiB, which in a run is mostly garbage. */
const YOUNG_BYTES = 16 * 1_048_576;
/** How much live data may grow before the engine collects the old generation. */
const OLD_GROWTH_PERCENT = 50;

/**
 * Keeps the engine's heap close to the live data, from before a command is loaded on: to shrink it once it has grown takes
 * a gate a fifteenth of its processor time. A run makes much garbage that lives for one exchange, and by default the engine
 * lets the heap grow to several times the live data; on a small CI machine the service needs that memory.
 */
export const keepHeapSmall = (): void => {
  v8.setFlagsFromString(`--heap-growing-percent=${OLD_GROWTH_PERCENT}`);
  growYoung();
  v8.setFlagsFromString("--semi-space-growth-factor=1");
};

/** The engine grows the young generation only if more survives than fits into it. */
const growYoung = (): void => {
  // Copies, because building each from scratch takes three times as long.
  const one = Array.from({ length: 1_024 }, () => 0);
  const survivors: object[] = [];
  while (youngBytes() < YOUNG_BYTES && survivors.length < MOST_SURVIVORS) survivors.push([...one]);
};

/** Far more than needed. */
const MOST_SURVIVORS = 10_000;

const youngBytes = (): number =>
  v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? YOUNG_BYTES;
