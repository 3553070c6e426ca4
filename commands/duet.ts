import { ConfigurationError } from "../conformance/contract/problem.ts";
import { prepareDirectory } from "../conformance/files/run-directory.ts";
import { tool } from "../conformance/record/tool.ts";
import {
  type FoundK6,
  type LoadContext,
  type LoadPlan,
  parseBlock,
  playDuet,
  runnerClock,
  startTarget,
} from "../scenarios/runner/index.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import type { TargetFlags } from "./shared/flags.ts";
import { findK6ForLoad, openLoad } from "./shared/load-run.ts";
import { openTarget } from "./shared/target.ts";
import { duetExitCode, writeDuet } from "../reports/duet/document.ts";
import { duetSession } from "../reports/duet/session.ts";
import { runDirectory } from "../conformance/engine/recorded-run.ts";
import { duetSuite } from "../reports/ci/compared.ts";
import { duetDoc } from "../reports/document/duet.ts";
import { writeDocument } from "../reports/write.ts";
import { besideRun, checkReportOut } from "./shared/write-reports.ts";
import type { duet as definition } from "./flags/load.ts";
import { show } from "./shared/show.ts";

/** How long a service started by a command may take to answer. */
const START_WITHIN_MS = 60_000;

export const run: Action<typeof definition> = async (context, a, b, flags) => {
  const seed = flags.seed ?? context.freshSeed();
  const { block: blockMs, rate, scenario } = flags;
  const plan = parseBlock({ scenario, rate, blockMs, seed });
  checkReportOut(flags.reportOut);
  if (flags.out !== undefined) prepareDirectory(flags.out);
  const k6 = await findK6ForLoad(context);
  await using first = await openSide(context, { side: "a", given: a, start: flags.startA, plan, k6 });
  await using second = await openSide(context, { side: "b", given: b, start: flags.startB, plan, k6 });
  await play(context, { a: first, b: second }, plan, flags);
};

interface Side {
  /** Its name as given on the command line. */
  readonly given: string;
  readonly load: LoadContext;
}

/** Plays the blocks of both sides in turns and prints the result. Updates the document after each pair. */
const play = async (
  context: CommandContext,
  { a, b }: { readonly a: Side; readonly b: Side },
  plan: LoadPlan,
  { pairs, out: folder, report, reportOut }: Parameters<typeof run>[3],
): Promise<void> => {
  const { output, signal } = context;
  const { scenario, rate, durationMs: blockMs, warmUpMs, seed } = plan;
  const startedAt = runnerClock.wallTime();
  const session = duetSession(
    { pairs, seed },
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
  const run = folder ?? runDirectory(startedAt, "duet", context.freshUuid);
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
          `pair ${pair + 1} of ${pairs}, ${side}: ${record.validity?.valid === false ? "spoilt" : (record.outcome ?? "cut off")}`,
        ),
      onPair: (soFar) => writeDuet(run, session.document("open", soFar)),
      signal,
    },
    run,
  );
  const document = session.document(played.interrupted ? "interrupted" : "ended", played);
  writeDuet(run, document);
  const shown = duetDoc(document, run);
  show(output, shown, { ...document, run });
  if (report !== undefined) {
    const files = writeDocument(shown, {
      name: "duet",
      formats: report,
      out: reportOut ?? besideRun(run),
      flag: "--report-out",
      suite: duetSuite(document, run),
    });
    for (const file of files) output.say(`Report   ${file}`);
  }
  context.exitWith(duetExitCode(document));
};

interface AskedSide {
  readonly side: "a" | "b";
  readonly given: string;
  readonly start: string | undefined;
  readonly plan: LoadPlan;
  readonly k6: FoundK6;
}

const openSide = async (context: CommandContext, { side, given, start, plan, k6 }: AskedSide) => {
  const flag = `--start-${side}`;
  const isFake = given.startsWith("fake:");
  if (given === "fake:")
    throw new ConfigurationError([
      "fake: needs a behaviour, such as fake:sound; `touchstone serve --list` lists all",
    ]);
  if (isFake && start !== undefined)
    throw new ConfigurationError([`${flag} needs a profile; "${given}" is started without a command`]);
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
        live: { second: () => {}, phase: () => {}, say: () => {} },
      },
    );
    return {
      given,
      load: opened.context,
      [Symbol.asyncDispose]: async () => {
        await opened.stop();
        await started?.stop();
      },
    };
  } catch (error) {
    await started?.stop();
    throw error;
  }
};
