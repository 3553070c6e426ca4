import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import {
  ConfigurationError,
  UnfinishedRecord,
  UnreachableError,
} from "../../conformance/contract/problem.ts";
import type { CommandContext } from "./context.ts";
import { reportOn, type ReportFlags } from "./write-reports.ts";

export interface Ran<Record> {
  readonly record: Record;
  readonly directory: string;
  readonly trouble?: string;
}

/** A pass that lacks its record or its report is a failure of the harness; any other verdict keeps its exit code. */
const withTrouble = (verdict: number | undefined): number | undefined =>
  verdict === exitCodes.passed ? exitCodes["harness-error"] : verdict;

/** A run whose record could not be completed still has its verdict. */
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

/** A target that cannot be reached has no verdict: its record says why, and so do the reports that were asked for. */
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

interface Conclusion {
  readonly pinned?: Readonly<Record<string, string>>;
  /** Shows the verdict; left out where it has been shown. */
  readonly show?: (exitCode: number) => void;
}

/**
 * Writes the reports of runs that have their verdict, shows the verdict with the exit code that it comes to, and sets that.
 * What cannot be written is told in a line.
 */
export const conclude = async (
  context: CommandContext,
  ran: readonly Ran<{ readonly exitCode?: number | undefined }>[],
  flags: ReportFlags,
  { pinned = {}, show }: Conclusion = {},
): Promise<{ readonly files: readonly string[]; readonly exitCode: number }> => {
  const codes = ran.map(({ record }) => record.exitCode ?? exitCodes["harness-error"]);
  const verdict = codes.find((code) => code !== exitCodes.passed) ?? exitCodes.passed;
  const troubles = ran.flatMap(({ trouble }) => trouble ?? []);
  let files: readonly string[] = [];
  try {
    const readable = ran.filter(({ trouble }) => trouble === undefined).map(({ directory }) => directory);
    if (readable.length > 0) files = await reportOn(context, readable, flags, pinned);
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
