import path from "node:path";
import { tool } from "../conformance/record/tool.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { checkFile, gatherAnswers, writeProfile, writeSchema } from "../conformance/profile/init.ts";
import { createInterface } from "node:readline/promises";
import type { init as definition } from "./flags/init.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName, programFile } = context;
  const { schema: schemaFile, out: file } = flags;
  const force = flags.force === true;
  const isSchemaAlone =
    schemaFile !== undefined && flags.baseUrl === undefined && flags.clientId === undefined;
  if (!isSchemaAlone) {
    checkFile({ file, force });
    const asking = await startAsking(context);
    const answers = await gatherAnswers(flags, asking?.ask).finally(() => asking?.stop());
    const importFrom = profileModule(file, programFile);
    writeProfile(answers, { file, force, importFrom, schemaFile });
    const names = answers.clients.map(({ secretEnv }) => secretEnv).join(", ");
    output.say(`Set ${names}, then: ${programName} doctor --profile ${file}`);
    output.print(file);
  }
  if (schemaFile === undefined) return;
  writeSchema(schemaFile);
  output.print(schemaFile);
};

/** Questions on a terminal; undefined if there is none. */
const startAsking = async ({ signal, interrupt }: CommandContext) => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return {
    ask: async (question: string, offered?: string): Promise<string> => {
      const shown = offered === undefined ? question : `${question} (${offered})`;
      const answer = await lines.question(`${shown}: `, { signal }).catch((error: unknown) => {
        // Ctrl-C and Ctrl-D end the questions, and with them the command.
        if (error instanceof Error && error.name === "AbortError") interrupt();
        throw error;
      });
      return answer.trim() === "" ? (offered ?? "") : answer.trim();
    },
    stop: () => lines.close(),
  };
};

/** Where a profile imports defineProfile from: the sources in a checkout, else the package. */
const profileModule = (file: string, programFile: string): string => {
  if (!programFile.endsWith(".ts")) return tool.name;
  const sources = path.join(path.dirname(programFile), "conformance/contract/profile.ts");
  const relative = path.relative(path.dirname(path.resolve(file)), sources);
  return relative.startsWith(".") ? relative : `./${relative}`;
};
