import { Command, Option } from "@commander-js/extra-typings";
import { choiceFlag, durationFlag, integerFlag, shareFlag } from "../conformance/flags.ts";
import { ConfigurationError } from "../conformance/problem.ts";
import { tool } from "../conformance/tool.ts";
import type { FoundK6, LoadContext, LoadPlan } from "../scenarios/runner/index.ts";
import type { CommandContext } from "./shared/context.ts";
import { jsonOption, rateOption, reportOutOption, seedOption, type TargetFlags } from "./shared/flags.ts";
import { findK6ForLoad, openLoad } from "./shared/load-run.ts";
import { openTarget } from "./shared/target.ts";

/** A service that was started by a command has to answer by then. */
const START_WITHIN_MS = 60_000;

export const duetCommand = (context: CommandContext) =>
  new Command("duet")
    .arguments("<a> <b>")
    .description(
      "loads two builds of a service in turns and says whether b is slower than a; each is a profile, or fake:BEHAVIOUR",
    )
    .option("--start-a <command>", "starts a by this command of the shell, and ends it afterwards")
    .option("--start-b <command>", "the same for b")
    .option("--scenario <name>", "token, notifications or mixed", "token")
    .addOption(rateOption("requests a second"))
    .option("--pairs <number>", "pairs of blocks", integerFlag("--pairs", 2, 1_000), 20)
    .addOption(
      new Option("--block <duration>", "length of a block, its first fifth not counted")
        .default(10_000, "10s")
        .argParser(durationFlag("--block")),
    )
    .option(
      "--plan-for <share>",
      "plays a few pairs and says how many would find a change of, say, 5%",
      shareFlag("--plan-for"),
    )
    .option("--end-early", "ends at a planned look where a regression is certain already")
    .addOption(seedOption)
    .option("--out <directory>", "where the records of the blocks go; a new one under runs/ where left out")
    .option("--report <format>", "html: writes the duet as a page", choiceFlag("--report", ["html"] as const))
    .addOption(reportOutOption("the page goes"))
    .addOption(jsonOption)
    .action(async (a, b, flags) => {
      const { parseBlock } = await import("../scenarios/runner/index.ts");
      const seed = flags.seed ?? context.freshSeed();
      const { block: blockMs, rate, scenario } = flags;
      const plan = parseBlock({ scenario, rate, blockMs, seed });
      const k6 = await findK6ForLoad(context);
      const first = await openSide(context, { side: "a", given: a, start: flags.startA, plan, k6 });
      try {
        const second = await openSide(context, { side: "b", given: b, start: flags.startB, plan, k6 });
        try {
          const sides = { a: { given: a, load: first.load }, b: { given: b, load: second.load } };
          await play(context, sides, plan, { ...flags, endEarly: flags.endEarly === true });
        } finally {
          await second.stop();
        }
      } finally {
        await first.stop();
      }
    });

interface Side {
  /** What names it on the command line. */
  readonly given: string;
  readonly load: LoadContext;
}

interface DuetFlags {
  readonly pairs: number;
  readonly endEarly: boolean;
  readonly planFor?: number | undefined;
  readonly out?: string | undefined;
  readonly report?: "html" | undefined;
  readonly reportOut?: string | undefined;
  readonly json?: true | undefined;
}

/** Plays the blocks of both sides in turns, and prints what they come to. Each pair brings the document up to date. */
const play = async (
  context: CommandContext,
  { a, b }: { readonly a: Side; readonly b: Side },
  plan: LoadPlan,
  { pairs, endEarly, planFor, out, report, reportOut, json }: DuetFlags,
): Promise<void> => {
  const { playDuet, runnerClock } = await import("../scenarios/runner/index.ts");
  const { duetExitCode } = await import("../reports/duet/document.ts");
  const { duetSession } = await import("../reports/duet/session.ts");
  const { writeDuet } = await import("../reports/duet/write.ts");
  const { runDirectory } = await import("../conformance/recorded-run.ts");
  const { renderDuetRun } = await import("../reports/terminal/duet.ts");
  const { output, signal } = context;
  const { scenario, rate, durationMs: blockMs, warmUpMs, seed } = plan;
  const startedAt = runnerClock.wallTime();
  const session = duetSession(
    { pairs, seed, endEarly, planFor },
    {
      tool: tool.version,
      startedAt: startedAt.toISOString(),
      a: a.given,
      b: b.given,
      scenario,
      rate,
      blockMs,
      warmUpMs,
    },
  );
  const run = out ?? runDirectory(startedAt, "duet", context.freshUuid);
  context.recordingBegins();
  const played = await playDuet(
    {
      a: a.load,
      b: b.load,
      plan,
      schedule: session.schedule,
      goesOn: session.goesOn,
      onBlock: ({ pair, side, record }) =>
        output.say(
          `pair ${pair + 1} of ${session.pairs}, ${side}: ${record.validity?.valid === false ? "spoilt" : (record.outcome ?? "cut off")}`,
        ),
      onPair: (soFar) => writeDuet(run, session.document("open", soFar)),
      signal,
    },
    run,
  );
  const document = session.document(played.interrupted ? "interrupted" : "ended", played);
  writeDuet(run, document);
  const isPilot = planFor !== undefined;
  if (json) output.printJson({ ...document, run });
  else output.print(renderDuetRun(document, { ...(await output.page()), run, isPilot }));
  if (report !== undefined) {
    const { writeDuetReport } = await import("../reports/write.ts");
    const folder = reportOut ?? `${run.replace(/[\\/]+$/, "")}-report`;
    output.say(`Report  ${writeDuetReport(document, run, folder)}`);
  }
  context.exitWith(duetExitCode(document, isPilot));
};

interface AskedSide {
  readonly side: "a" | "b";
  readonly given: string;
  readonly start: string | undefined;
  readonly plan: LoadPlan;
  readonly k6: FoundK6;
}

/** One side of a duet: its target, started first where a command for that was given. */
const openSide = async (context: CommandContext, { side, given, start, plan, k6 }: AskedSide) => {
  const { runnerClock, startTarget } = await import("../scenarios/runner/index.ts");
  const flag = `--start-${side}`;
  const isFake = given.startsWith("fake:");
  if (isFake && start !== undefined)
    throw new ConfigurationError([`${flag} is for a profile; "${given}" is started without a command`]);
  const flags: TargetFlags = isFake ? { behaviour: given.slice("fake:".length) } : { profile: [given] };
  const started =
    start === undefined
      ? undefined
      : await startTarget({
          command: start,
          flag,
          baseUrl: (await openTarget(context, flags)).resolved.profile.baseUrl,
          withinMs: START_WITHIN_MS,
          environment: context.environment,
          clock: runnerClock,
          signal: context.signal,
        });
  try {
    const opened = await openLoad(
      context,
      { ...flags, maxWait: 0 },
      {
        asked: plan,
        withPushes: false,
        k6: async () => k6,
        live: { second: () => {}, phase: () => {} },
      },
    );
    return {
      load: opened.context,
      stop: async () => {
        await opened.stop();
        await started?.stop();
      },
    };
  } catch (error) {
    await started?.stop();
    throw error;
  }
};
