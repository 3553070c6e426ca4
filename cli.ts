#!/usr/bin/env node
import module from "node:module";
import { fileURLToPath } from "node:url";
import { runOnBroughtNode } from "./commands/shared/runtime.ts";

/*
 * The entry. It starts on older Nodes too: there it continues on the Node that the package brings. All else is loaded
 * only after that, since it needs the newer Node.
 */

const file = fileURLToPath(import.meta.url);
const exitCode = await runOnBroughtNode(process.argv).catch((error: unknown) => {
  process.stderr.write(`touchstone: ${error instanceof Error ? error.message : String(error)}\n`);
  return 5;
});
if (exitCode !== undefined) process.exitCode = exitCode;
else {
  // What was compiled once is kept with the package: into a folder for temporary files, others may write.
  const root = new URL(file.endsWith(".ts") ? "." : "..", import.meta.url);
  module.enableCompileCache(fileURLToPath(new URL("node_modules/.cache/compiled", root)));
  const { main } = await import("./commands/program.ts");
  await main(file);
}
