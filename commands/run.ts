import type { LoadRecord } from "../conformance/contract/load-record.ts";
import type { RunRecord } from "../conformance/contract/record.ts";
import type { FoundK6 } from "../scenarios/runner/index.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { runGate } from "./shared/gate-run.ts";
import { findK6ForLoad, refuseLoad, runLoad } from "./shared/load-run.ts";
import { conclude, withVerdict, type Ran } from "./shared/conclude.ts";
import { checkReportOut } from "./shared/write-reports.ts";
import { parseAsked, runnerClock } from "../scenarios/runner/index.ts";
import { gateDoc } from "../reports/document/gate.ts";
import { loadDoc } from "../reports/document/load.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import { shellWord } from "../reports/text/figures.ts";
import type { run as definition } from "./flags/run.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName, signal } = context;
  const seed = flags.seed ?? context.freshSeed();
  const { duration: durationMs, rate, scenario } = flags;
  const asked = parseAsked({ scenario, rate, durationMs, seed });
  checkReportOut(flags.reportOut);
  const search = searchForK6(context);
  // The gate may take long: what keeps the load from being played is told before it.
  const gate = await withVerdict(
    runGate(context, { ...flags, seed }, async (resolved) => {
      await refuseLoad(context, resolved, asked);
      await search.begin();
    }),
  );
  const { record, directory } = gate;
  const pinned = record.pinned ?? {};
  const page = output.page();
  const detail = output.manner().quiet ? "failures" : "brief";
  output.print(
    renderTerminal(gateDoc({ record, run: directory, pinned }, { program: programName, detail }), page),
  );
  context.exitWith(record.exitCode ?? exitCodes["harness-error"]);
  const ran: Ran<RunRecord | LoadRecord>[] = [gate];
  try {
    if (signal.aborted) return;
    search.tell();
    const loaded = await withVerdict(runLoad(context, flags, asked, search.end));
    ran.push(loaded);
    output.print(
      `\n${renderTerminal(loadDoc({ record: loaded.record, run: loaded.directory }, { detail: "brief" }), page)}`,
    );
  } finally {
    // What was found is worth its report, whatever became of the rest.
    const [report] = await conclude(context, ran, { ...flags, report: ["html"] }, pinned);
    if (signal.aborted) output.say(afterInterruption(context, ran, flags));
    if (report !== undefined) output.print(`Report   ${report}`);
  }
};

/** What an interrupted run leaves, and the command that does the rest of it. */
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
    `--scenario ${scenario} --rate ${rate} --duration ${duration}ms`,
  ];
  if (gate?.record.outcome === "interrupted")
    return `Interrupted in the gate; ${gate.directory} keeps what it had judged. To go on: ${programName} conform --resume ${shellWord(gate.directory)}`;
  return `Interrupted ${load === undefined ? "before" : "in"} the load; ${[gate, load].flatMap((one) => one?.directory ?? []).join(" and ")} ${load === undefined ? "is kept, and whole" : "are kept, the load up to its last second"}. To load again: ${again.join(" ")}`;
};

/** Who cannot get k6 at all mostly knows it sooner; who builds it needs minutes, which the gate need not wait for. */
const SOON_MS = 10_000;

/** The search for k6, which continues during the gate if k6 has to be installed first. */
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
