import { ConfigurationError } from "../../conformance/contract/problem.ts";
import type { ResolvedProfile } from "../../conformance/profile/profile.ts";
import type { CommandContext } from "./context.ts";
import type { TargetFlags } from "./flags.ts";
import type { Effort } from "../../conformance/checks/effort.ts";
import type { ConformOptions } from "../../conformance/engine/conform.ts";
import { afterResult, createProgress, progressAtStart, watchNote } from "../../reports/terminal/progress.ts";
import type { Pace } from "../../conformance/world/http/pacer.ts";
import { openTarget, withReceiver } from "./target.ts";
import { rules } from "../../conformance/rules/index.ts";
import { selectRules } from "../../conformance/engine/executor.ts";
import { recordedRun, runDirectory } from "../../conformance/engine/recorded-run.ts";
import { ledgerKeyFrom, openLedger } from "../../conformance/lifetimes/ledger-file.ts";

interface GateFlags extends TargetFlags {
  readonly only?: string[] | undefined;
  readonly section?: string[] | undefined;
  readonly level?: string[] | undefined;
  readonly strict?: true | undefined;
  readonly effort?: Effort | undefined;
  readonly seed?: number | undefined;
  readonly maxWait: number;
  readonly pace?: Pace | undefined;
  readonly out?: string | undefined;
  readonly ledger?: string | undefined;
  readonly ledgerKeyFile?: string | undefined;
}

/**
 * Runs the gate against the target selected by the flags, and writes its record. If `beforehand` throws about the
 * target, the run ends before anything is sent or written.
 */
export const runGate = async (
  context: CommandContext,
  flags: GateFlags,
  beforehand: (resolved: ResolvedProfile) => Promise<void> = async () => {},
) => {
  const selected = selectRules(rules, { only: flags.only, sections: flags.section, levels: flags.level });
  const ledger = await openLedgerOf(context, flags);
  const target = await withReceiver(openTarget(context, flags), selected);
  try {
    await beforehand(target.resolved);
    context.recordingBegins();
    const live = gateProgress(
      context,
      selected.map((rule) => rule.requirement),
    );
    const out = flags.out ?? runDirectory(new Date(context.clock.wallMs()), "conform", context.freshUuid);
    return await recordedRun({
      ...target,
      rules: selected,
      effort: flags.effort ?? "standard",
      seed: flags.seed ?? context.freshSeed(),
      strict: flags.strict === true,
      maxWaitMs: flags.maxWait,
      pace: flags.pace,
      out,
      ledger,
      secrets: context.output.secrets,
      signal: context.signal,
      freshUuid: context.freshUuid,
      onRunning: live.running,
      onWatch: live.watching,
      onResult: live.result,
    }).finally(live.stop);
  } finally {
    ledger?.store.close();
    await target.stop();
  }
};

const openLedgerOf = async (
  { environment, clock }: CommandContext,
  { ledger, ledgerKeyFile }: Pick<GateFlags, "ledger" | "ledgerKeyFile">,
) => {
  if (ledger === undefined && ledgerKeyFile !== undefined)
    throw new ConfigurationError(["--ledger-key-file needs --ledger <file>"]);
  if (ledger === undefined) return undefined;
  return {
    store: openLedger(ledger, ledgerKeyFrom(`--ledger ${ledger}: `, ledgerKeyFile, environment)),
    hereMs: clock.wallMs,
  };
};

/** A change of the time that watching pushes takes is told if it is at least this share of it. */
const NOTED_SHARE = 0.1;

/** The live line of the gate is redrawn at this interval, whether or not a rule settles. */
const REDRAWN_MS = 200;

const gateProgress = (context: CommandContext, ids: readonly string[]) => {
  const { clock, output } = context;
  const { palette } = output.page();
  const startedMs = clock.nowMs();
  let state = progressAtStart(ids);
  let waiting: () => typeof state.waiting = () => undefined;
  const line = createProgress(output.live, palette);
  const show = (): void => {
    if (output.isSilent()) return;
    const now = waiting();
    const shown = {
      ...state,
      elapsedMs: clock.nowMs() - startedMs,
      wallMs: clock.wallMs(),
      ...(now === undefined ? {} : { waiting: now }),
    };
    line.show(shown);
  };
  const stopRedrawing = clock.every(REDRAWN_MS, show);
  return {
    running: ({ clocks }: Parameters<NonNullable<ConformOptions["onRunning"]>>[0]) => {
      waiting = () => clocks.waiting();
    },
    watching: ({ leftMs, neededMs }: Parameters<NonNullable<ConformOptions["onWatch"]>>[0]) => {
      if (output.isSilent()) return;
      const untilMs = clock.wallMs() + leftMs;
      const before = state.watching?.untilMs ?? 0;
      if (Math.abs(untilMs - before) < leftMs * NOTED_SHARE) return;
      state = { ...state, watching: { untilMs } };
      line.note(watchNote({ leftMs, neededMs, untilMs }));
    },
    result: (result: Parameters<NonNullable<ConformOptions["onResult"]>>[0]) => {
      state = afterResult(state, result);
      show();
    },
    stop: () => {
      stopRedrawing();
      line.clear();
    },
  };
};
