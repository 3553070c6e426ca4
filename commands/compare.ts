import { Command } from "@commander-js/extra-typings";
import { choiceFlag } from "../conformance/flags.ts";
import { exitCodes } from "../conformance/contract/record.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import type { CommandContext } from "./shared/context.ts";
import { jsonOption, seedOption } from "./shared/flags.ts";

export const compareCommand = ({ output, exitWith }: CommandContext) =>
  new Command("compare")
    .arguments("<runs...>")
    .description("compares the last run with the ones before it: rules, observations, latency")
    .option(
      "--baseline <folder>",
      "compares with the earlier runs of this folder that have the same fingerprint",
    )
    .option("--force", "compares runs that differ in what makes them comparable, and says so")
    .option(
      "--report <format>",
      "html: writes the comparison as a page",
      choiceFlag("--report", ["html"] as const),
    )
    .option("--out <directory>", "where the page goes; a folder beside the last run where left out")
    .addOption(seedOption)
    .addOption(jsonOption)
    .action(async (directories, flags) => {
      if (flags.out !== undefined && flags.report === undefined)
        throw new ConfigurationError(["--out is for --report html, which is missing"]);
      const { readRun } = await import("../reports/read/index.ts");
      const { baselineOf, compareRuns } = await import("../reports/compare/index.ts");
      const { seededRandom } = await import("../reports/statistics/random.ts");
      const { renderCompare } = await import("../reports/terminal/compare.ts");
      const { baseline } = flags;
      const force = flags.force === true;
      const runs = [];
      for (const directory of directories)
        runs.push(await readRun(directory, force ? { altered: "read" } : {}));
      const head = runs.at(-1);
      if (head === undefined || (directories.length < 2 && baseline === undefined))
        throw new ConfigurationError([
          "compare takes two or more run directories, or one and --baseline <folder> with the earlier ones",
        ]);
      const earlier = baseline === undefined ? undefined : await baselineOf(baseline, head);
      const comparison = await compareRuns([...(earlier?.runs ?? []), ...runs.slice(0, -1)], head, {
        force,
        leftOut: earlier?.leftOut ?? [],
        random: seededRandom(flags.seed ?? 1),
      });
      if (flags.json) output.printJson(comparison);
      else output.print(renderCompare(comparison, await output.page()));
      if (flags.report !== undefined) {
        const { writeComparison } = await import("../reports/write.ts");
        const out = flags.out ?? `${head.directory.replace(/[\\/]+$/, "")}-report`;
        output.say(`Report  ${writeComparison(comparison, out)}`);
      }
      exitWith(
        {
          regressed: exitCodes.failed,
          drifted: exitCodes.drifted,
          "no regression": exitCodes.passed,
        }[comparison.verdict],
      );
    });
