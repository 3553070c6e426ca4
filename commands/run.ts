import type { FoundK6 } from "../scenarios/runner/index.ts";
import type { Action, CommandContext } from "./shared/context.ts";
import { runGate } from "./shared/gate-run.ts";
import { findK6ForLoad, refuseLoad, runLoad } from "./shared/load-run.ts";
import { reportOn } from "./shared/write-reports.ts";
import { parseAsked, runnerClock } from "../scenarios/runner/index.ts";
import { gateDoc } from "../reports/document/gate.ts";
import { loadDoc } from "../reports/document/load.ts";
import { renderTerminal } from "../reports/terminal/document.ts";
import type { run as definition } from "./flags/run.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

export const run: Action<typeof definition> = async (context, flags) => {
  const { output, programName, signal } = context;
  const seed = flags.seed ?? context.freshSeed();
  const { duration: durationMs, rate, scenario } = flags;
  const asked = parseAsked({ scenario, rate, durationMs, seed });
  const search = searchForK6(context);
  // The gate may take long: what keeps the load from being played is told before it.
  const gate = await runGate(context, { ...flags, seed }, async (resolved) => {
    await refuseLoad(context, resolved, asked);
    await search.begin();
  });
  const { pinned, directory } = gate;
  const page = output.page();
  const detail = output.manner().quiet ? "failures" : "brief";
  const judgedGate = { record: gate.record, run: directory, pinned };
  output.print(renderTerminal(gateDoc(judgedGate, { program: programName, detail }), page));
  const judged = gate.record.exitCode ?? exitCodes["harness-error"];
  context.exitWith(judged);
  if (signal.aborted) return;
  search.tell();
  const runs = [directory];
  try {
    const loaded = await runLoad(context, flags, asked, search.end);
    runs.push(loaded.directory);
    output.print(
      `\n${renderTerminal(loadDoc({ record: loaded.record, run: loaded.directory }, { detail: "brief" }), page)}`,
    );
    if (judged === exitCodes.passed) context.exitWith(loaded.record.exitCode ?? exitCodes["harness-error"]);
  } finally {
    // What the gate found is worth its report whatever became of the load.
    const [report] = await reportOn(context, runs, { ...flags, report: ["html"] }, pinned);
    output.print(`Report   ${report ?? ""}`);
  }
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
