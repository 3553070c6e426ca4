import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

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
