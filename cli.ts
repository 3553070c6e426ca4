#!/usr/bin/env node
import module from "node:module";
import { fileURLToPath } from "node:url";

/* The entry point. Older Nodes can read it, to be refused; everything else is loaded afterwards. */

const file = fileURLToPath(import.meta.url);
const isCheckout = file.endsWith(".ts");
/** The oldest Node: of the package, whose syntax is lowered, and of the sources. */
const [oldestMajor, oldestMinor] = isCheckout ? [24, 15] : [22, 19];
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
  const remedy = isCheckout ? "use npm run touchstone, which on Linux brings one" : "install a newer Node";
  process.stderr.write(
    `touchstone: this is Node ${process.versions.node}; accepted is ${oldestMajor}.${oldestMinor} or later; ${remedy}\n`,
  );
  process.exitCode = 2;
} else {
  // The compile cache stays with the package: a shared temporary folder would be writable by others.
  const root = new URL(isCheckout ? "." : "..", import.meta.url);
  module.enableCompileCache(fileURLToPath(new URL("node_modules/.cache/compiled", root)));
  const { main } = await import("./commands/program.ts");
  await main(file);
}
