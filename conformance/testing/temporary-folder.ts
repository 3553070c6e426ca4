import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/** A folder that is removed at the end of the block in which it is used. */
export const temporaryFolder = (): Disposable & { readonly path: string } => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-test-"));
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
};
