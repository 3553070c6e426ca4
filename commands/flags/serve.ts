import { Command, Option } from "@commander-js/extra-typings";
import { choiceFlag } from "../shared/flags.ts";
import { controlPortOption, jsonOption, portOption, seedOptionOf } from "../shared/flags.ts";

export const serve = new Command("serve")
  .description("run the fake service, sound or with a seeded defect")
  .addOption(portOption("port of the service"))
  .addOption(controlPortOption("port of the control interface"))
  .option("--behaviour <name>", "sound, a defect or a variant (--list prints all)", "sound")
  .option("--clients <file>", "JSON file with an array of { id, secret, redirectUri }")
  .addOption(seedOptionOf("seed of codes, tokens and ids (default: 1)"))
  .option(
    "--clock <mode>",
    "flowing (real time plus every advance) or frozen (default: flowing, or the behaviour's own)",
    choiceFlag("--clock", ["flowing", "frozen"] as const),
  )
  .option("--data <directory>", "keep notifications and pending pushes in this folder across restarts")
  .option(
    "--write-profile <file>",
    "write a profile for `conform --profile`, with each client's secret in a file beside it (mode 600)",
  )
  .option(
    "--list [text]",
    "list all behaviours, or those whose name, summary or broken rules contain the text, and exit",
  )
  .addOption(new Option("--while-stdin", "exit when standard input ends, for a parent process").hideHelp())
  .addOption(jsonOption);
