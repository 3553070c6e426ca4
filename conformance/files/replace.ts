import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Replaces a file atomically: readers see the old or the new one complete, even after a power loss. */
export const replaceFile = (file: string, text: string, mode: number): void => {
  const draft = `${file}.part`;
  try {
    const opened = openSync(draft, "w", mode);
    try {
      writeFileSync(opened, text);
      fsyncSync(opened);
    } finally {
      closeSync(opened);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
};
