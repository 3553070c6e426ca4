import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { requirementIds } from "../conformance/contract/catalogue.ts";
import * as gate from "./flags/gate.ts";
import * as load from "./flags/load.ts";
import * as reports from "./flags/reports.ts";
import * as services from "./flags/services.ts";
import type { Action } from "./shared/context.ts";
import { onlyOption } from "./shared/flags.ts";

/* Scripts with which shells complete commands, their flags, and the values of flags that have choices. */

const commands: readonly CommandUnknownOpts[] = [gate, load, reports, services].flatMap((definitions) =>
  Object.values<unknown>(definitions).filter(isCommand),
);

function isCommand(value: unknown): value is CommandUnknownOpts {
  return typeof value === "object" && value !== null && "createHelp" in value;
}

export const run: Action<typeof services.completion> = async ({ output }, shell) => {
  output.print(scripts[shell]());
};

/** The values that a flag can have; none if it can have any. */
const choicesOf = (option: Option): readonly string[] => {
  if (option === onlyOption) return requirementIds;
  const { parseArg } = option;
  return parseArg !== undefined && "choices" in parseArg ? (parseArg.choices as readonly string[]) : [];
};

const flagsOf = ({ options }: CommandUnknownOpts): readonly Option[] =>
  options.filter(({ hidden }) => !hidden);

const names = commands.map((command) => command.name()).join(" ");

const bash = (): string => {
  const values = commands.flatMap((command) =>
    flagsOf(command)
      .map((option) => [option.long, choicesOf(option).join(" ")] as const)
      .filter(([, choices]) => choices !== "")
      .map(([long, choices]) => `    "${command.name()} ${long} "*) words="${choices}" ;;`),
  );
  const flags = commands.map((command) => {
    const own = flagsOf(command).map(({ long }) => long);
    return `    "${command.name()} "*" -"*) words="${own.join(" ")} --help --quiet --verbose --no-color" ;;`;
  });
  return `_touchstone() {
  local word=\${COMP_WORDS[COMP_CWORD]} words="${names}"
  [ "$COMP_CWORD" = 1 ] || case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]} $word" in
${[...values, ...flags].join("\n")}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _touchstone touchstone touchstone-harness
`;
};

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`\'`)}'`;

const fish = (): string =>
  ["touchstone", "touchstone-harness"]
    .flatMap((program) =>
      commands.flatMap((command) => [
        `complete -c ${program} -n __fish_use_subcommand -f -a ${command.name()} -d ${quoted(command.description())}`,
        ...flagsOf(command).map((option) => {
          const choices = choicesOf(option);
          const value =
            choices.length > 0 ? ` -x -a ${quoted(choices.join(" "))}` : option.required ? " -r" : "";
          return `complete -c ${program} -n '__fish_seen_subcommand_from ${command.name()}' -l ${option.long?.slice(2)}${value} -d ${quoted(option.description)}`;
        }),
      ]),
    )
    .join("\n");

const scripts = {
  bash,
  // Zsh reads the script of bash.
  zsh: () => `autoload -Uz bashcompinit && bashcompinit\n${bash()}`,
  fish,
};
