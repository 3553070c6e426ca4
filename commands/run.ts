import { Command, Option } from "@commander-js/extra-typings";
import { exitCodes } from "../conformance/contract/record.ts";
import { durationFlag } from "../conformance/flags.ts";
import type { FoundK6 } from "../scenarios/runner/index.ts";
import type { CommandContext } from "./shared/context.ts";
import {
  behaviourOption,
  effortOption,
  maxWaitOption,
  profileOption,
  rateOption,
  reportOutOption,
  seedOption,
} from "./shared/flags.ts";
import { runGate } from "./shared/gate-run.ts";
import { findK6ForLoad, refuseLoad, runLoad } from "./shared/load-run.ts";
import { reportOn } from "./shared/write-reports.ts";

export const runCommand = (context: CommandContext) =>
  new Command("run")
    .description("the whole job: the gate, a short load run, and one HTML report of both")
    .addOption(profileOption)
    .addOption(behaviourOption)
    .addOption(effortOption("standard"))
    .addOption(seedOption)
    .addOption(maxWaitOption)
    .option("--scenario <name>", "scenario of the load run: token, notifications, mixed or push", "mixed")
    .addOption(rateOption("requests a second of the load run"))
    .addOption(
      new Option("--duration <duration>", "how long the load lasts")
        .default(5_000, "5s")
        .argParser(durationFlag("--duration")),
    )
    .addOption(reportOutOption("the report goes"))
    .action(async (flags) => {
      const { output, programName, signal } = context;
      const { parseAsked } = await import("../scenarios/runner/index.ts");
      const seed = flags.seed ?? context.freshSeed();
      const { duration: durationMs, rate, scenario } = flags;
      const asked = parseAsked({ scenario, rate, durationMs, seed });
      const search = searchForK6(context);
      // The gate may take long: what keeps the load from being played is told before it.
      const gate = await runGate(context, { ...flags, seed }, async (resolved) => {
        await refuseLoad(context, resolved, asked);
        await search.begin();
      });
      const { renderConform } = await import("../reports/terminal/conform.ts");
      const { pinned, directory } = gate;
      const shown = { ...(await output.page()), quiet: output.manner().quiet, program: programName };
      output.print(renderConform(gate.record, { ...shown, run: directory, pinned }));
      const judged = gate.record.exitCode ?? exitCodes["harness-error"];
      context.exitWith(judged);
      if (signal.aborted) return;
      search.tell();
      const runs = [directory];
      try {
        const loaded = await runLoad(context, flags, asked, search.end);
        runs.push(loaded.directory);
        const { renderLoad } = await import("../reports/terminal/load.ts");
        output.print(`\n${renderLoad(loaded.record, { ...shown, run: loaded.directory })}`);
        if (judged === exitCodes.passed)
          context.exitWith(loaded.record.exitCode ?? exitCodes["harness-error"]);
      } finally {
        // What the gate found is worth its report whatever became of the load.
        const [report] = await reportOn(context, runs, { ...flags, report: ["html"] }, pinned);
        output.print(`Report   ${report ?? ""}`);
      }
    });

/** Who cannot get k6 at all mostly knows it sooner; who builds it needs minutes, which the gate need not wait for. */
const SOON_MS = 10_000;

/** The search for k6, which goes on beside the gate where k6 has to be installed first. */
const searchForK6 = (context: CommandContext) => {
  let searching: Promise<FoundK6> | undefined;
  let isTold = false;
  let latest = "";
  const find = (): Promise<FoundK6> =>
    findK6ForLoad(context, (line) => {
      latest = line;
      if (isTold) context.output.say(line);
    });
  const end = (): Promise<FoundK6> => (searching ??= find());
  return {
    end,
    /** Resolves once k6 is there, or is still being installed after a while. Rejects where it turns out by then that there will be none. */
    begin: async (): Promise<void> => {
      const { runnerClock } = await import("../scenarios/runner/index.ts");
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const takeBack = runnerClock.after(SOON_MS, resolve);
      const found = end();
      // A failure that comes later, during the gate, is met when the load wants its k6.
      found.catch(() => {});
      await Promise.race([found, isLate]).finally(takeBack);
    },
    /** From now on the progress of the installation is told. */
    tell: (): void => {
      isTold = true;
      if (latest !== "") context.output.say(latest);
    },
  };
};
