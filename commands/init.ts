import path from "node:path";
import { tool } from "../conformance/record/tool.ts";
import type { Action } from "./shared/context.ts";
import {
  profileFromFlags,
  writeProfile,
  writeSchema,
  isInstalledAt,
  profileNameAt,
} from "../conformance/profile/init.ts";
import { plural } from "../reports/text/figures.ts";
import type { init as definition } from "./flags/gate.ts";

export const run: Action<typeof definition> = async ({ output, programName, programFile }, flags) => {
  const { schema: schemaFile, force: forced, ...others } = flags;
  const force = forced === true;
  const isSchemaAlone = schemaFile !== undefined && Object.keys(others).length === 0;
  if (!isSchemaAlone) {
    const folder = path.dirname(path.resolve(flags.out ?? "touchstone.config"));
    const importFrom = profileModule(folder, programFile);
    const file = flags.out ?? profileNameAt(folder, importFrom !== undefined);
    const target = { file, force, importFrom, schemaFile };
    const profile = profileFromFlags(flags);
    const lines = writeProfile(profile, target);
    const names = profile.clients.map(({ secret }) => secret.env).join(", ");
    if (lines.length > 0)
      output.say(`Fill in ${plural(lines.length, "line")} of ${file}: ${lines.join(", ")}`);
    output.say(`Set ${names}, then: ${programName} doctor --profile ${file}`);
    output.print(file);
  }
  if (schemaFile === undefined) return;
  writeSchema(schemaFile, force);
  output.print(schemaFile);
};

/**
 * The module from which a profile in this folder imports defineProfile: the sources in a checkout, otherwise the
 * package if it is installed there.
 */
const profileModule = (folder: string, programFile: string): string | undefined => {
  if (!programFile.endsWith(".ts")) return isInstalledAt(folder, tool.name) ? tool.name : undefined;
  const sources = path.join(path.dirname(programFile), "conformance/contract/profile.ts");
  const relative = path.relative(folder, sources);
  return relative.startsWith(".") ? relative : `./${relative}`;
};
