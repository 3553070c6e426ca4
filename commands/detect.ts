import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { Command, Option } from "@commander-js/extra-typings";
import type { DetectReport } from "../conformance/contract/detect.ts";
import { exitCodes } from "../conformance/contract/record.ts";
import { integerFlag, listFlag } from "../conformance/flags.ts";
import type { CommandContext } from "./shared/context.ts";
import { effortOption, jsonOption, seedOption, type Effort } from "./shared/flags.ts";
import { openTarget, withReceiver } from "./shared/target.ts";

export const detectCommand = (context: CommandContext) =>
  new Command("detect")
    .description(
      "measures what the rules can see: seeded defects killed, false alarms on conforming variants",
    )
    .option("--full", "every defect against every rule at standard effort, with the whole matrix")
    .option("--behaviour <names>", "these defects and variants alone", listFlag)
    .addOption(effortOption("quick"))
    .addOption(seedOption)
    .option("--jobs <number>", "processes side by side", integerFlag("--jobs", 1, 64), availableParallelism())
    .addOption(
      new Option("--shard <i/n>", "the i-th of n parts of the list, for machines that share the work"),
    )
    .addOption(jsonOption)
    .action(async (flags, command) => {
      const { mergeDetections, parseShard } = await import("../conformance/detect.ts");
      const full = flags.full === true;
      const asked: AskedDetection = {
        full,
        effort: full && command.getOptionValueSource("effort") === "default" ? "standard" : flags.effort,
        seed: flags.seed ?? context.freshSeed(),
        names: flags.behaviour,
      };
      const { jobs } = flags;
      const shard = parseShard(flags.shard);
      const parts = Array.from({ length: jobs }, (_, job) => ({
        index: shard.index * jobs + job,
        count: shard.count * jobs,
      }));
      const report =
        jobs === 1
          ? await detectHere(context, asked, shard)
          : mergeDetections(await Promise.all(parts.map((part) => detectInChild(context, asked, part))));
      await tell(context, report, flags.json === true);
    });

interface AskedDetection {
  readonly full: boolean;
  readonly effort: Effort;
  readonly seed: number;
  /** Defects and variants by name; all where undefined. */
  readonly names: readonly string[] | undefined;
}

/** One part of the work, counted from 0. */
interface Part {
  readonly index: number;
  readonly count: number;
}

/** Variants judged at once where not each is to be judged by itself. */
const COMPANY = 4;

const detectHere = async (
  context: CommandContext,
  { full, effort, seed, names }: AskedDetection,
  part: Part,
): Promise<DetectReport> => {
  const { detectPatienceMs, detectShard } = await import("../conformance/detect.ts");
  const fake = await import("../fake-server/index.ts");
  const { rules } = await import("../conformance/rules/index.ts");
  return detectShard(part, {
    defects: fake.defects,
    variants: fake.companies(fake.variants, full ? 1 : COMPANY),
    joint: fake.joint,
    ...(names === undefined ? {} : { names }),
    rules,
    start: (behaviour, judging) =>
      withReceiver(openTarget(context, { behaviour, patienceMs: detectPatienceMs }), judging),
    effort,
    seed,
    full,
    freshUuid: context.freshUuid,
    signal: context.signal,
    onSubject: ({ name }) => context.output.say(`  ${name}`),
  });
};

/** One part in a process of its own, which runs this very command and prints its report as JSON. */
const detectInChild = (
  { programFile, output }: CommandContext,
  { full, effort, seed, names }: AskedDetection,
  { index, count }: Part,
): Promise<DetectReport> => {
  const parameters = [
    "detect",
    "--json",
    "--jobs=1",
    `--shard=${index + 1}/${count}`,
    `--seed=${seed}`,
    `--effort=${effort}`,
    ...(full ? ["--full"] : []),
    ...(names === undefined ? [] : [`--behaviour=${names.join(",")}`]),
  ];
  const { quiet, json } = output.manner();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [programFile, ...parameters], {
      stdio: ["ignore", "pipe", quiet || json ? "ignore" : "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    child.on("error", reject);
    child.on("close", (code) => {
      try {
        resolve(JSON.parse(text) as DetectReport);
      } catch {
        reject(new Error(`a part of the detection ended with exit code ${code} and no report`));
      }
    });
  });
};

const tell = async (
  { output, signal, exitWith }: CommandContext,
  report: DetectReport,
  json: boolean,
): Promise<void> => {
  const { renderDetect, renderInterrupted } = await import("../reports/terminal/detect.ts");
  if (json) output.printJson(report);
  else if (signal.aborted) output.say(renderInterrupted(report));
  else output.print(renderDetect(report, await output.page()));
  const { defects, variants } = report;
  if (signal.aborted) exitWith(exitCodes.interrupted);
  else if (defects.survivors.length + variants.falseAlarms.length > 0) exitWith(exitCodes.failed);
  else if ((variants.unsettled ?? []).length > 0) exitWith(exitCodes.incomplete);
};
