import { spawn, type ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../measure.ts";

/** A run of the command line in its own process. */
export interface Started {
  readonly child: ChildProcess;
  readonly said: () => { readonly stdout: string; readonly stderr: string };
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
}

export const startCli = (parameters: readonly string[], env: NodeJS.ProcessEnv, cwd = root): Started => {
  const child = spawn(process.execPath, [path.join(root, "cli.ts"), ...parameters], {
    cwd,
    env: { ...process.env, FORCE_COLOR: undefined, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
  return {
    child,
    said: () => ({ stdout, stderr }),
    ended: new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code, signal) => resolve({ code, signal }));
    }),
  };
};

/** A process as the kernel shows it to every user of the machine (Linux). */
export interface Seen {
  readonly pid: number;
  readonly title: string;
  readonly argv: string;
}

const seen = (pid: number): (Seen & { readonly environment: string }) | undefined => {
  const about = (what: string): string => readFileSync(`/proc/${pid}/${what}`, "latin1");
  try {
    return { pid, title: about("comm"), argv: about("cmdline"), environment: about("environ") };
  } catch {
    // It has ended meanwhile, or belongs to somebody else.
    return undefined;
  }
};

/** The processes that this text stands in the environment or the arguments of. */
export const processesOf = (mark: string): readonly Seen[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => seen(Number(name)))
    .filter((one) => one !== undefined)
    .filter(({ argv, environment }) => (argv + environment).includes(mark));

/** A living process and all that come of it: far fewer than the machine's. */
export const processesBelow = (pid: number): readonly Seen[] => {
  const children = ((): readonly number[] => {
    try {
      return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
        (readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").match(/\d+/g) ?? []).map(Number),
      );
    } catch {
      return [];
    }
  })();
  const one = seen(pid);
  return [...(one === undefined ? [] : [one]), ...children.flatMap(processesBelow)];
};

/** All files below a folder, with their content. */
export const filesBelow = (folder: string): readonly { readonly file: string; readonly bytes: Buffer }[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) => {
    if (!entry.isFile()) return [];
    const file = path.join(entry.parentPath, entry.name);
    try {
      return [{ file, bytes: readFileSync(file) }];
    } catch {
      return [];
    }
  });
