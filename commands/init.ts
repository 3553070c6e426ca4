import path from "node:path";
import { tool } from "../conformance/record/tool.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import {
  checkFile,
  gatherAnswers,
  writeProfile,
  writeSchema,
  type Talk,
} from "../conformance/profile/init.ts";
import { isInstalledAt, profileNameAt } from "../conformance/profile/profile-place.ts";
import { createInterface } from "node:readline/promises";
import type { init as definition } from "./flags/init.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName, programFile } = context;
  const { schema: schemaFile, force: forced, ...others } = flags;
  const force = forced === true;
  const isSchemaAlone = schemaFile !== undefined && Object.keys(others).length === 0;
  if (!isSchemaAlone) {
    const folder = path.dirname(path.resolve(flags.out ?? "touchstone.config"));
    const importFrom = profileModule(folder, programFile);
    const file = flags.out ?? profileNameAt(folder, importFrom !== undefined);
    const target = { file, force, importFrom, schemaFile };
    checkFile(target);
    const asking = flags.yes === true ? takingOffers : await startAsking(context);
    const profile = await gatherAnswers(flags, asking).finally(() => asking?.stop());
    writeProfile(profile, target);
    const names = profile.clients.map(({ secret }) => secret.env).join(", ");
    output.say(`Set ${names}, then: ${programName} doctor --profile ${file}`);
    output.print(file);
  }
  if (schemaFile === undefined) return;
  writeSchema(schemaFile, force);
  output.print(schemaFile);
};

interface Asking extends Talk {
  readonly stop: () => void;
}

const takingOffers: Asking = { ask: async (_, offered) => offered, tell: () => {}, stop: () => {} };

/** Questions on a terminal; undefined if there is none. */
const startAsking = async ({ signal, interrupt, output }: CommandContext): Promise<Asking | undefined> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return {
    ask: async (question, offered) => {
      const answer = await lines
        .question(`${question} (${offered}): `, { signal })
        .catch((error: unknown) => {
          // Ctrl-C and Ctrl-D end the questions, and with them the command.
          if (error instanceof Error && error.name === "AbortError") interrupt();
          throw error;
        });
      return answer.trim() === "" ? offered : answer.trim();
    },
    tell: (problem) => output.complain(problem),
    stop: () => lines.close(),
  };
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
