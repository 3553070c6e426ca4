import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { userFolder } from "../../files/user-folder.ts";
import { directoryMode, fileMode } from "../../contract/files.ts";
import { DAY_MS } from "../../contract/duration.ts";
import { newKey } from "../store/vault.ts";

/** The folder for checkpoint keys: the user's, not the run's, because a run's folder may be handed on. */
export const keyFolder = (environment: Readonly<Record<string, string | undefined>>): string =>
  path.join(userFolder(environment, "XDG_STATE_HOME"), "checkpoints");

/** Age at which keys of runs that were never continued are removed; the credentials they open live at most a month. */
const KEPT_MS = 60 * DAY_MS;

const fileOf = (folder: string, name: string): string => path.join(folder, `${name}.key`);

/** Creates a key that only its owner can read, and removes expired keys. */
export const makeKey = (folder: string, name: string, nowMs: number): Uint8Array => {
  mkdirSync(folder, { recursive: true, mode: directoryMode });
  for (const file of readdirSync(folder).filter((one) => one.endsWith(".key"))) {
    const place = path.join(folder, file);
    const made = statSync(place, { throwIfNoEntry: false });
    if (made !== undefined && nowMs - made.mtimeMs > KEPT_MS) rmSync(place, { force: true });
  }
  const key = newKey();
  writeFileSync(fileOf(folder, name), key, { flag: "wx", mode: fileMode });
  return key;
};

export const findKey = (folder: string, name: string): Uint8Array | undefined => {
  try {
    return readFileSync(fileOf(folder, name));
  } catch {
    return undefined;
  }
};

export const removeKey = (folder: string, name: string): void =>
  rmSync(fileOf(folder, name), { force: true });
