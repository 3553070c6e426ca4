import { existsSync, realpathSync } from "node:fs";
import { ConfigurationError } from "../../conformance/contract/problem.ts";

/** A run compared with itself differs in nothing and would pass; reported beside itself, it would count as two. */
export const refuseTwice = (directories: readonly string[]): void => {
  const met = new Map<string, string>();
  for (const directory of directories.filter((one) => existsSync(one))) {
    const real = realpathSync(directory);
    const same = met.get(real);
    if (same !== undefined)
      throw new ConfigurationError([`"${same}" and "${directory}" are the same folder; give different runs`]);
    met.set(real, directory);
  }
};
