import path from "node:path";
import { Command } from "@commander-js/extra-typings";
import { tool } from "../conformance/tool.ts";
import type { CommandContext } from "./shared/context.ts";
import { isNamed } from "./shared/exit.ts";

const collected = (value: string, earlier: readonly string[] = []): readonly string[] => [...earlier, value];

export const initCommand = (context: CommandContext) =>
  new Command("init")
    .description("asks for, or takes by flags, what a profile needs, and writes it with comments")
    .option("--base-url <address>", "address of the service, what stands before /open-api/")
    .option("--name <text>", "how reports call the service")
    .option("--client-id <id>", "id of an OAuth client; given again for a second one", collected)
    .option("--secret-env <name>", "environment variable that holds the client's secret", collected)
    .option("--redirect-uri <address>", "the client's redirectUri, as it was registered", collected)
    .option("--out <file>", "the profile, .ts or .json", "touchstone.config.ts")
    .option("--force", "replaces a profile that is there")
    .option("--schema <file>", "writes the JSON Schema of profiles there, for editors; alone, nothing else")
    .action(async (flags) => {
      const { output, programName, programFile } = context;
      const { checkFile, gatherAnswers, writeProfile, writeSchema } = await import("../conformance/init.ts");
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
    });

/** Questions on a terminal; undefined where nobody sits at one. */
const startAsking = async ({ signal, interrupt }: CommandContext) => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const { createInterface } = await import("node:readline/promises");
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return {
    ask: async (question: string, offered?: string): Promise<string> => {
      const shown = offered === undefined ? question : `${question} (${offered})`;
      const answer = await lines.question(`${shown}: `, { signal }).catch((error: unknown) => {
        // Ctrl-C and Ctrl-D end the questions, and with them the command.
        if (isNamed(error, ["AbortError"])) interrupt();
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
