import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Puts a file in place in one step: readers, and a machine that lost power, have the old one or the new one, whole. */
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
