import { createRequire } from "node:module";

/** Name and version of this package, as its own package.json says. */
export const tool: { readonly name: string; readonly version: string } = (() => {
  const require = createRequire(import.meta.url);
  // From the sources package.json is one folder up, from the bundle in dist/ as well.
  const { name, version } = require("../package.json") as { name: string; version: string };
  return { name, version };
})();
