import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { about } from "../measure.ts";

/** A process as the kernel shows it to every user of the machine (Linux). */
const seen = (pid: number) => ({ pid, title: about(pid, "comm"), argv: about(pid, "cmdline") });

/** The processes that this text stands in the environment or the arguments of. */
export const processesOf = (mark: string): readonly ReturnType<typeof seen>[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((name) => seen(Number(name)))
    .filter(({ pid, argv }) => (argv + about(pid, "environ")).includes(mark));

/** A living process and all that come of it: far fewer than the machine's. */
export const processesBelow = (pid: number): readonly ReturnType<typeof seen>[] => {
  const tasks = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : [];
  const children = tasks.flatMap((task) => about(pid, `task/${task}/children`).match(/\d+/g) ?? []);
  const one = seen(pid);
  return [...(one.title === "" ? [] : [one]), ...children.map(Number).flatMap(processesBelow)];
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
