import { Command } from "@commander-js/extra-typings";
import { jsonOption, profileOption } from "../shared/flags.ts";

export const doctor = new Command("doctor")
  .description("check everything a run depends on: profile, secrets, address, clients, hooks, receiver, k6")
  .addOption(profileOption)
  .addOption(jsonOption);
