import { Command } from "@commander-js/extra-typings";
import { jsonOption, maxWaitOption, profileOption } from "../shared/flags.ts";

export const replay = new Command("replay")
  .arguments("<run> <rule>")
  .description("judge one rule of an earlier run again: still fails, fixed, or could not run")
  .addOption(profileOption)
  .addOption(maxWaitOption)
  .addOption(jsonOption);
