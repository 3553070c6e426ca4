import { Command } from "@commander-js/extra-typings";
import { exitCodes } from "../conformance/contract/record.ts";
import type { CommandContext } from "./shared/context.ts";
import { effortOf, jsonOption, maxWaitOption, profileOption } from "./shared/flags.ts";
import { targetAgain } from "./shared/gate-run.ts";
import { openTarget, withReceiver } from "./shared/target.ts";

export const replayCommand = (context: CommandContext) =>
  new Command("replay")
    .arguments("<run> <rule>")
    .description("judges one rule of an earlier run again: still fails, fixed, or could not run")
    .addOption(profileOption)
    .addOption(maxWaitOption)
    .addOption(jsonOption)
    .action(async (run, rule, flags) => {
      const { output, signal, freshUuid } = context;
      const { readGateRun } = await import("../reports/read/index.ts");
      const { replay, replayable } = await import("../conformance/replay.ts");
      const { record } = await readGateRun(run);
      const earlier = replayable(record, rule);
      const opening = openTarget(context, targetAgain(flags.profile, record.target));
      const target = await withReceiver(opening, [earlier.rule]);
      try {
        const answer = await replay(earlier, {
          resolved: target.resolved,
          receiver: target.receiver,
          effort: effortOf(record),
          seed: record.seed,
          strict: record.strict,
          maxWaitMs: flags.maxWait,
          secrets: output.secrets,
          signal,
          freshUuid,
        });
        const { renderReplay } = await import("../reports/terminal/replay.ts");
        if (flags.json) output.printJson(answer);
        else output.print(renderReplay(answer, { ...(await output.page()), run }));
        context.exitWith(
          {
            "still fails": exitCodes.failed,
            fixed: exitCodes.passed,
            "could not run": exitCodes.incomplete,
          }[answer.answer],
        );
      } finally {
        await target.stop();
      }
    });
