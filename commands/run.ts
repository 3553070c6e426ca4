import type { LoadRecord } from "../conformance/contract/load-record.ts";
import { durationAsFlag } from "../conformance/contract/duration.ts";
import type { RunRecord } from "../conformance/contract/record.ts";
import path from "node:path";
import { type FoundK6, parseAsked, parseK6Output, runnerClock } from "../scenarios/runner/index.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { endingOf } from "./shared/output.ts";
import { runGate } from "./shared/gate-run.ts";
import { findK6ForLoad, refuseLoad, runLoad } from "./shared/load-run.ts";
import { conclude, tellingUnreachable, withVerdict, type Ran } from "./shared/conclude.ts";
import { checkReportOut } from "./shared/write-reports.ts";
import { gateDoc } from "../reports/document/gate.ts";
import { loadDoc } from "../reports/document/load.ts";
import { conformDocument } from "../reports/json/conform.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import { shellWord } from "../reports/text/figures.ts";
import type { run as definition } from "./flags/load.ts";
import { prepareDirectory } from "../conformance/files/run-directory.ts";
import { exitCodes, worstExitCode } from "../conformance/contract/exit-codes.ts";
import { show } from "./shared/show.ts";

type Gate = Ran<RunRecord>;
type Load = Ran<LoadRecord>;

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, signal } = context;
  const seed = flags.seed ?? context.freshSeed();
  const { duration: durationMs, rate, scenario } = flags;
  const asked = parseAsked({ scenario, rate, durationMs, seed, k6Output: parseK6Output(flags.k6Out) });
  const placeOf = (name: string) => (flags.out === undefined ? undefined : path.join(flags.out, name));
  checkReportOut(flags.reportOut);
  const search = searchForK6(context);
  // The gate may take long, so obstacles to the load are reported before it.
  const reported = { ...flags, report: flags.report ?? (["html"] as const) };
  const judging = runGate(context, { ...flags, seed, out: placeOf("gate") }, async (resolved) => {
    await refuseLoad(context, resolved, asked);
    if (flags.out !== undefined) prepareDirectory(flags.out);
    await search.begin();
  });
  const gate = await withVerdict(tellingUnreachable(context, reported, judging));
  tellGate(context, gate);
  context.exitWith(gate.record.exitCode ?? exitCodes["harness-error"]);
  let load: Load | undefined;
  let failedWith: number = exitCodes.passed;
  try {
    if (!signal.aborted) {
      search.tell();
      load = await withVerdict(runLoad(context, { ...flags, out: placeOf("load") }, asked, search.end));
      tellLoad(context, load);
    }
  } catch (error) {
    // Rethrown, it would hide what the gate found.
    const ending = endingOf(error, signal.aborted);
    failedWith = ending.exitCode;
    if (ending.message !== undefined) output.complain(ending.message);
  }
  // Also where the gate had passed by then: a run without its load is not green.
  if (signal.aborted && load === undefined) failedWith = exitCodes.interrupted;
  const ran = load === undefined ? [gate] : [gate, load];
  const concluded = await conclude(context, ran, reported);
  const { files } = concluded;
  const exitCode = worstExitCode([concluded.exitCode, failedWith]);
  context.exitWith(exitCode);
  if (signal.aborted) output.say(afterInterruption(context, ran, flags));
  if (flags.json)
    output.printJson({
      exitCode,
      gate: conformDocument(gate.record, gate.directory),
      // If the load was not played, the exit code and standard error say why.
      load: load === undefined ? null : { ...load.record, run: load.directory },
      reports: files,
    });
  else for (const file of files) output.print(`Report   ${file}`);
};

const tellGate = ({ output, programName }: CommandContext, gate: Gate): void => {
  if (output.manner().json) return;
  show(output, gateDoc(gate, { program: programName, detail: output.manner().detail }));
};

const tellLoad = ({ output }: CommandContext, load: Load): void => {
  if (output.manner().json) return;
  output.print(`\n${renderTerminal(loadDoc(load, output.manner()), output.page())}`);
};

/** What an interrupted run left, and the command that completes it. */
const afterInterruption = (
  { programName }: CommandContext,
  [gate, load]: readonly Ran<RunRecord | LoadRecord>[],
  { profile = [], behaviour, scenario, rate, duration }: Parameters<typeof run>[1],
): string => {
  const target = [
    ...profile.map((file) => `--profile ${shellWord(file)}`),
    ...(behaviour === undefined ? [] : [`--behaviour ${shellWord(behaviour)}`]),
  ];
  const again = [
    programName,
    "load",
    ...target,
    `--scenario ${scenario} --rate ${rate} --duration ${durationAsFlag(duration)}`,
  ];
  if (gate?.record.outcome === "interrupted")
    return `Interrupted in the gate; ${gate.directory} keeps what was judged; start the run again`;
  return `Interrupted ${load === undefined ? "before" : "in"} the load; ${[gate, load].flatMap((one) => one?.directory ?? []).join(" and ")} ${load === undefined ? "is kept and complete" : "are kept, with the load up to its last second"}. To repeat the load: ${again.join(" ")}`;
};

/** Without k6, the failure usually shows before this; building k6 takes minutes, for which the gate does not wait. */
const SOON_MS = 10_000;

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
    /**
     * Resolves once k6 is ready or its installation is still going on after a while. Rejects if installation fails
     * before that.
     */
    begin: async (): Promise<void> => {
      const { promise: isLate, resolve } = Promise.withResolvers<void>();
      const takeBack = runnerClock.after(SOON_MS, resolve);
      const found = end();
      // A later failure, during the gate, is reported when the load needs its k6.
      found.catch(() => {});
      await Promise.race([found, isLate]).finally(takeBack);
    },
    /** Starts reporting the progress of the installation. */
    tell: (): void => {
      isTold = true;
      if (latest !== "") context.output.say(latest);
    },
  };
};
