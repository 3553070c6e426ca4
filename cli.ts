#!/usr/bin/env node
import module from "node:module";
import { fileURLToPath } from "node:url";
import { runOnBroughtNode } from "./commands/shared/runtime.ts";

/*
 * The entry point. It also starts on older Nodes and then continues on the Node that the package brings. Everything
 * else needs the newer Node, so it is loaded afterwards.
 */

const file = fileURLToPath(import.meta.url);
const exitCode = await runOnBroughtNode(process.argv).catch((error: unknown) => {
  process.stderr.write(`touchstone: ${error instanceof Error ? error.message : String(error)}\n`);
  return 5;
});
if (exitCode !== undefined) process.exitCode = exitCode;
else {
  // The compile cache stays with the package: a shared temporary folder would be writable by others.
  const root = new URL(file.endsWith(".ts") ? "." : "..", import.meta.url);
  module.enableCompileCache(fileURLToPath(new URL("node_modules/.cache/compiled", root)));
  const { main } = await import("./commands/program.ts");
  await main(file);
}
