import { spawn, type ChildProcessByStdio } from "node:child_process";
import path from "node:path";
import type { Readable, Writable } from "node:stream";

/** A process that tests and benchmarks start; what it prints is collected. */
export interface Started {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly said: () => { readonly stdout: string; readonly stderr: string };
  /** It has ended; what it started may still be alive and hold its output open. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** It has ended and all that it printed was read; gives its exit code. */
  readonly closed: Promise<number | null>;
  /** Its first line. Rejects if it ends without one. */
  readonly line: () => Promise<string>;
  /** The JSON document that it prints once it listens. Rejects if it ends without one. */
  readonly document: () => Promise<unknown>;
  readonly stop: (signal?: NodeJS.Signals) => Started["ended"];
}

export interface Place {
  readonly env?: NodeJS.ProcessEnv;
  /** Default: the root of this checkout. */
  readonly cwd?: string;
  /** Whether its standard input stays open until it is stopped, which is what ends it then. */
  readonly holdsInput?: boolean;
}

const root = path.resolve(import.meta.dirname, "../..");

/** The environment without what would change a command's target or its output, and with this. */
export const environmentWith = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...process.env,
  FORCE_COLOR: undefined,
  TOUCHSTONE_PROFILE: undefined,
  TOUCHSTONE_SEED: undefined,
  TOUCHSTONE_EFFORT: undefined,
  ...env,
});

export const startProgram = (
  program: string,
  parameters: readonly string[],
  { env = {}, cwd = root, holdsInput = false }: Place = {},
): Started => {
  const child = spawn(program, parameters, {
    cwd,
    env: environmentWith(env),
    stdio: ["pipe", "pipe", "pipe"],
  });
  // It may end before it reads anything.
  child.stdin.on("error", () => undefined);
  if (!holdsInput) child.stdin.end();
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  const ended: Started["ended"] = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
  const printed = (ending: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const look = (): void => void (ending.test(stdout) && resolve(stdout));
      child.stdout.on("data", look);
      look();
      void closed.then((code) =>
        reject(new Error(`${[program, ...parameters].join(" ")} ended with ${code}: ${stderr}`)),
      );
    });
  return {
    child,
    said: () => ({ stdout, stderr }),
    ended,
    closed,
    line: async () => (await printed(/\n/)).split("\n", 1).join(),
    document: async () => JSON.parse(await printed(/^(?:\{.*)?\}\n/m)) as unknown,
    stop: async (signal = "SIGTERM") => {
      if (holdsInput) child.stdin.end();
      else child.kill(signal);
      return ended;
    },
  };
};

export const startNode = (parameters: readonly string[], place?: Place): Started =>
  startProgram(process.execPath, parameters, place);

/** Starts a module that is given as text. */
export const startModule = (text: string, parameters: readonly string[] = [], place?: Place): Started =>
  startNode(["--input-type=module", "--eval", text, ...parameters], place);

/** Starts the command line of this checkout in its own process. */
export const startCli = (parameters: readonly string[], place?: Place): Started =>
  startNode([path.join(root, "cli.ts"), ...parameters], place);
