import { Command } from "@commander-js/extra-typings";
import type { CommandContext } from "./shared/context.ts";
import { jsonOption } from "./shared/flags.ts";
import { given } from "./shared/given.ts";

export const ledgerCommand = ({ output }: CommandContext) =>
  new Command("ledger")
    .arguments("<file>")
    .description(
      "prints what a ledger holds: what is due when, what was judged, what expired unjudged and why",
    )
    .addOption(jsonOption)
    .action(async (file, flags) => {
      const { listLedger } = await import("../conformance/ledger/store.ts");
      const { dueWindow } = await import("../conformance/ledger/entries.ts");
      const { renderLedger } = await import("../reports/terminal/ledger.ts");
      const at = (ms: number): string => new Date(ms).toISOString();
      const rows = listLedger(file).map((entry) => {
        const due = dueWindow(entry);
        const { rule, subject, side, target, state, lifetimeMs, held, note } = entry;
        return {
          rule,
          subject,
          side,
          target,
          state,
          lifetimeMs,
          issuedAt: at(entry.issued.earliestMs),
          dueFrom: at(due.earliestMs),
          dueUntil: at(due.latestMs),
          ...given({ held, note }),
        };
      });
      if (flags.json) output.printJson(rows);
      else output.print(renderLedger(file, rows, await output.page()));
    });
