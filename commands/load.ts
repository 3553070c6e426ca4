import { Command, Option } from "@commander-js/extra-typings";
import { exitCodes } from "../conformance/contract/record.ts";
import { durationFlag, integerFlag } from "../conformance/flags.ts";
import type { CommandContext } from "./shared/context.ts";
import {
  behaviourOption,
  jsonOption,
  maxWaitOption,
  outOption,
  profileOption,
  rateOption,
  reportOption,
  reportOutOption,
  seedOption,
} from "./shared/flags.ts";
import { runLoad } from "./shared/load-run.ts";
import { reportOn } from "./shared/write-reports.ts";

export const loadCommand = (context: CommandContext) =>
  new Command("load")
    .description(
      "loads a service with k6 and checks the rules meanwhile; without a profile, the embedded fake",
    )
    .addOption(profileOption)
    .addOption(behaviourOption)
    .option("--scenario <name>", "token, notifications, mixed, push or breakpoint", "mixed")
    .option("--shape <name>", "constant, ramp, spike, soak or breakpoint (`constant` where left out)")
    .addOption(rateOption("requests a second at the peak"))
    .addOption(
      new Option("--duration <duration>", "how long the load lasts, such as 10s, 5m or 1h")
        .default(30_000, "30s")
        .argParser(durationFlag("--duration")),
    )
    .option(
      "--warm-up <duration>",
      "how much of the beginning no objective counts (a tenth, 5s at most, where left out)",
      durationFlag("--warm-up"),
    )
    .option(
      "--vus <number>",
      "the most virtual users that k6 may use; follows from the rate where left out",
      integerFlag("--vus", 1, 100_000),
    )
    .addOption(seedOption)
    .addOption(maxWaitOption)
    .addOption(outOption)
    .addOption(reportOption("writes reports of the run: "))
    .addOption(reportOutOption("reports go"))
    .addOption(jsonOption)
    .action(async (flags) => {
      const { output } = context;
      const { parseAsked } = await import("../scenarios/runner/index.ts");
      const asked = parseAsked({
        scenario: flags.scenario,
        shape: flags.shape,
        rate: flags.rate,
        durationMs: flags.duration,
        warmUpMs: flags.warmUp,
        virtualUsers: flags.vus,
        seed: flags.seed ?? context.freshSeed(),
      });
      const { record, directory } = await runLoad(context, flags, asked);
      const { renderLoad } = await import("../reports/terminal/load.ts");
      if (flags.json) output.printJson({ ...record, run: directory });
      else output.print(renderLoad(record, { ...(await output.page()), run: directory }));
      for (const file of await reportOn(context, [directory], flags)) output.say(`Report   ${file}`);
      context.exitWith(record.exitCode ?? exitCodes["harness-error"]);
    });
