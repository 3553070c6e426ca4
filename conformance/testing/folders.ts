import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";

const makeFolder = (): string => mkdtempSync(path.join(os.tmpdir(), "touchstone-test-"));
const removeFolder = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** A temporary folder for all tests of a file, removed after the last of them. */
export const folderOfFile = (): string => {
  const folder = makeFolder();
  afterAll(() => removeFolder(folder));
  return folder;
};

/** Gives each test of a file a temporary folder, removed after it. */
export const eachTestIn = (take: (folder: string) => void): void => {
  let folder = "";
  beforeEach(() => {
    folder = makeFolder();
    take(folder);
  });
  afterEach(() => removeFolder(folder));
};
