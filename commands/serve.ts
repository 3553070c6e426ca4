import { Command, Option } from "@commander-js/extra-typings";
import { choiceFlag } from "../conformance/flags.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import { controlPortOption, jsonOption, portOption, seedOption } from "./shared/flags.ts";
import { given } from "./shared/given.ts";
import type { Output } from "./shared/output.ts";

export const serveCommand = ({ output, signal, interrupt }: CommandContext) =>
  new Command("serve")
    .description("runs the fake service by hand, sound or with a seeded defect")
    .addOption(portOption("port of the service"))
    .addOption(controlPortOption("port of the control interface"))
    .option("--behaviour <name>", "sound, a defect or a variant (--list prints all)", "sound")
    .option("--clients <file>", "JSON file with an array of { id, secret, redirectUri }")
    .addOption(seedOption)
    .option(
      "--clock <mode>",
      "flowing (real time, and what is advanced) or frozen",
      choiceFlag("--clock", ["flowing", "frozen"] as const),
      "flowing" as const,
    )
    .option("--data <directory>", "keeps notifications and pending pushes there, over a restart")
    .option(
      "--write-profile <file>",
      "writes a profile for `conform --profile`, with the secrets in a file beside it (mode 600)",
    )
    .option(
      "--list [text]",
      "prints the behaviours, all or those that have the text in their name, summary or broken rules, and ends",
    )
    .addOption(new Option("--while-stdin", "ends with its standard input, for whoever starts it").hideHelp())
    .addOption(jsonOption)
    .action(async (flags) => {
      if (flags.list !== undefined) return listBehaviours(output, flags.list === true ? "" : flags.list);
      const { serve } = await import("../fake-server/index.ts");
      const removesProfile = flags.whileStdin === true;
      if (removesProfile)
        process.stdin
          .once("end", () => interrupt())
          .resume()
          .unref();
      const { clock: clockMode, port = 0, controlPort = 0, behaviour, writeProfile } = flags;
      await serve(
        {
          port,
          controlPort,
          behaviour,
          clockMode,
          removesProfile,
          ...given({
            clientsFile: flags.clients,
            seed: flags.seed,
            dataDirectory: flags.data,
            profileFile: writeProfile,
          }),
        },
        {
          signal,
          listening: (addresses) => {
            if (flags.json) return output.printJson(addresses);
            output.print(
              [
                `service  ${addresses.baseUrl}   (behaviour ${addresses.behaviour}, clock ${clockMode})`,
                `control  ${addresses.controlUrl}   (GET /clock, POST /clock/advance, POST /events, PUT /callback, GET /counters, POST /reset)`,
                ...addresses.clients.map(({ id, redirectUri }) => `client   ${id}   ${redirectUri}`),
                ...(writeProfile === undefined ? [] : [`profile  ${writeProfile}`]),
                "Ctrl-C ends it.",
              ].join("\n"),
            );
          },
        },
      );
    });

/** Prints the behaviours of the fake that hold a text. */
const listBehaviours = async (output: Output, text: string): Promise<void> => {
  const { behaviours, defects, variants } = await import("../fake-server/index.ts");
  const { nearest } = await import("../conformance/contract/nearest.ts");
  const { behavioursWith, renderBehaviours } = await import("../reports/terminal/behaviours.ts");
  const all = Object.values(behaviours).map(({ name, summary }) => ({
    name,
    summary,
    kind:
      name in defects ? ("defect" as const) : name in variants ? ("variant" as const) : ("sound" as const),
    breaks: defects[name]?.breaks ?? [],
  }));
  const found = behavioursWith(all, text);
  if (found.length === 0)
    throw new ConfigurationError([
      `--list "${text}": no behaviour has that in its name, summary or rules; near it are ${nearest(text, Object.keys(behaviours)).join(", ")}`,
    ]);
  if (output.manner().json) output.printJson(found);
  else output.print(renderBehaviours(found, await output.page()));
};
