import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";

/**
 * Tests start the command line more than a hundred times: what one process compiled serves all after
 * it. The folder is new for each run of the tests, because the packed package leaves other files in it
 * every time.
 */
export default (): (() => void) => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-compiled-"));
  process.env["NODE_COMPILE_CACHE"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
};
