import { Command } from "@commander-js/extra-typings";
import { jsonOption } from "../shared/flags.ts";

export const ledger = new Command("ledger")
  .arguments("<file>")
  .description(
    "list the entries of a ledger: when each is due, what was judged, and what expired without being judged",
  )
  .addOption(jsonOption);
