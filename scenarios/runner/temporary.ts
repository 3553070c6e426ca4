import os from "node:os";
import path from "node:path";
import { temporaryPrefix } from "../../conformance/contract/files.ts";

/** What temporary folders of this process begin with, for mkdtemp to finish. */
export const temporaryBase = (what: "load" | "k6"): string =>
  path.join(os.tmpdir(), temporaryPrefix(what, { host: os.hostname(), pid: process.pid }));
