import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { run } from "../conformance/testing/installed.ts";

/** Installs or builds in a folder, once for each state of the file that says what; gives the folder. */
export const installedOnce = async (
  folder: string,
  definition: string,
  install: (folder: string) => Promise<void>,
): Promise<string> => {
  const text = readFileSync(definition, "utf8");
  const stamp = path.join(folder, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === text) return folder;
  mkdirSync(folder, { recursive: true });
  await install(folder);
  writeFileSync(stamp, text);
  return folder;
};

/** The Python of a virtual environment with the requirements of this folder. */
export const pythonWith = async (cache: string, sources: string): Promise<string> => {
  const requirements = path.join(sources, "requirements.txt");
  const folder = await installedOnce(path.join(cache, "python"), requirements, async (place) => {
    await run("python3", ["-m", "venv", place], {});
    const pip = path.join(place, "bin/pip");
    await run("nice", ["-n", "5", pip, "install", "--quiet", "--requirement", requirements], {});
  });
  return path.join(folder, "bin/python");
};
