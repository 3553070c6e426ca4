import { afterAll, beforeEach } from "vitest";
import { temporaryFolder } from "./temporary-folder.ts";

/** A temporary folder for all tests of a file, removed after the last of them. */
export const folderOfFile = (): string => {
  const made = temporaryFolder();
  afterAll(() => made[Symbol.dispose]());
  return made.path;
};

/** Gives each test of a file a temporary folder, removed after it. */
export const eachTestIn = (take: (folder: string) => void): void =>
  beforeEach(() => {
    const made = temporaryFolder();
    take(made.path);
    return () => made[Symbol.dispose]();
  });
