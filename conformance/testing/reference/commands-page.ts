import { CommanderError } from "@commander-js/extra-typings";
import { examples } from "../../../commands/flags/examples.ts";
import { commands } from "../../../commands/program.ts";
import type { CommandContext } from "../../../commands/shared/context.ts";
import { code, page, table } from "./markdown.ts";

/** Every command as the program defines it; none of them is run. */
export const definitions = commands.map((make) => make({} as CommandContext));

const global = new Set(["-q", "--quiet", "-v", "--verbose", "--no-color"]);

/** Whether these words are a command with arguments and flags as it defines them. */
export const parses = ([name, ...parameters]: readonly string[]): boolean => {
  let parsed = false;
  const command = definitions.find((one) => one.name() === name);
  try {
    command
      ?.exitOverride()
      .configureOutput({ writeErr: () => undefined })
      .action(() => {
        parsed = true;
      })
      .parse(
        parameters.filter((word) => !global.has(word)),
        { from: "user" },
      );
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
  }
  return parsed;
};

const flagRows = (command: (typeof definitions)[number]): readonly (readonly string[])[] =>
  command.options
    .filter(({ hidden }) => !hidden)
    .map(({ flags, description, defaultValue, defaultValueDescription, argChoices }) => {
      const told = defaultValueDescription ?? (defaultValue === undefined ? undefined : String(defaultValue));
      const choices = argChoices === undefined ? "" : ` (${argChoices.join(", ")})`;
      // Defaults that depend on the machine are described in words only.
      const shown = told === undefined || /jobs/.test(flags) ? "" : code(told);
      return [code(flags), `${description}${choices}`, shown];
    });

const commandPart = (command: (typeof definitions)[number]): string => {
  const name = command.name();
  const flags = flagRows(command);
  return [
    `## ${name}`,
    `${command.description()}.`,
    `\`touchstone ${name} ${command.usage()}\``,
    flags.length === 0 ? "" : table(["flag", "what it does", "default"], flags),
    ["```sh", ...(examples[name] ?? []).map(([line, does]) => `touchstone ${line}  # ${does}`), "```"].join(
      "\n",
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
};

export const commandsPage = (): string =>
  page(
    "Commands",
    "Every command with its flags. `-q, --quiet`, `-v, --verbose` and `--no-color` go with all of them; results go to standard output, everything else to standard error.",
    definitions.map(commandPart),
  );
