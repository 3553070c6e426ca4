import { exitCodes, worstExitCode } from "../../conformance/contract/exit-codes.ts";
import {
  ConfigurationError,
  UnfinishedRecord,
  UnreachableError,
} from "../../conformance/contract/problem.ts";
import type { CommandContext } from "./context.ts";
import { checkReportOut, reportOn, type ReportFlags } from "./write-reports.ts";

export interface Ran<Record> {
  readonly record: Record;
  readonly directory: string;
  readonly trouble?: string;
}

/** A pass without its record or report is a harness failure; any other verdict keeps its exit code. */
const withTrouble = (verdict: number | undefined): number | undefined =>
  verdict === exitCodes.passed ? exitCodes["harness-error"] : verdict;

/** A run keeps its verdict even if its record could not be completed. */
export const withVerdict = async <Record extends { readonly exitCode?: number | undefined }>(
  running: Promise<Ran<Record>>,
): Promise<Ran<Record>> => {
  try {
    return await running;
  } catch (error) {
    if (!(error instanceof UnfinishedRecord)) throw error;
    const record = error.record as Record;
    const { directory, message: trouble } = error;
    return { record: { ...record, exitCode: withTrouble(record.exitCode) }, directory, trouble };
  }
};

/** An unreachable target has no verdict: the record and the requested reports say why. */
export const tellingUnreachable = async <T>(
  context: CommandContext,
  flags: ReportFlags,
  running: Promise<T>,
): Promise<T> => {
  try {
    return await running;
  } catch (error) {
    if (error instanceof UnreachableError && error.record !== undefined)
      for (const file of await reportOn(context, [error.record], flags))
        context.output.say(`Report   ${file}`);
    throw error;
  }
};

/**
 * Writes the reports of judged runs, shows the verdict with the resulting exit code, and sets it. What cannot be
 * written is reported in a line. `show` shows the verdict, unless it was already shown.
 */
export const conclude = async (
  context: CommandContext,
  ran: readonly Ran<{ readonly exitCode?: number | undefined }>[],
  flags: ReportFlags,
  show?: (exitCode: number) => void,
): Promise<{ readonly files: readonly string[]; readonly exitCode: number }> => {
  const codes = ran.map(({ record }) => record.exitCode ?? exitCodes["harness-error"]);
  const verdict = worstExitCode(codes);
  const troubles = ran.flatMap(({ trouble }) => trouble ?? []);
  let files: readonly string[] = [];
  try {
    const readable = ran.filter(({ trouble }) => trouble === undefined).map(({ directory }) => directory);
    if (readable.length > 0) files = await reportOn(context, readable, flags);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    troubles.push(error.message);
  }
  const exitCode = (troubles.length > 0 ? withTrouble(verdict) : undefined) ?? verdict;
  show?.(exitCode);
  const ending = show === undefined && exitCode !== verdict ? `; exit code ${exitCode}` : "";
  if (troubles.length > 0) context.output.complain(`touchstone: ${troubles.join("\n            ")}${ending}`);
  context.exitWith(exitCode);
  return { files, exitCode };
};

/** Plays one run and concludes it: `tell` shows the verdict with the resulting exit code. */
export const judgedRun = async <Record extends { readonly exitCode?: number | undefined }>(
  context: CommandContext,
  flags: ReportFlags & { readonly out?: string | undefined },
  play: () => Promise<Ran<Record>>,
  tell: (judged: Ran<Record>) => void,
): Promise<void> => {
  checkReportOut(flags.reportOut);
  const ran = await withVerdict(tellingUnreachable(context, flags, play()));
  const { files } = await conclude(context, [ran], flags, (exitCode) =>
    tell({ ...ran, record: { ...ran.record, exitCode } }),
  );
  for (const file of files) context.output.say(`Report   ${file}`);
};
