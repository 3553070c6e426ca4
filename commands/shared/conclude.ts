import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { ConfigurationError, UnfinishedRecord } from "../../conformance/contract/problem.ts";
import type { CommandContext } from "./context.ts";
import { reportOn, type ReportFlags } from "./write-reports.ts";

/** What a run came to, and where its record is. */
export interface Ran<Record> {
  readonly record: Record;
  readonly directory: string;
  /** Why the record could not be completed, where it could not. */
  readonly trouble?: string;
}

/** A run whose record could not be completed still has its verdict. */
export const withVerdict = async <Record>(running: Promise<Ran<Record>>): Promise<Ran<Record>> => {
  try {
    return await running;
  } catch (error) {
    if (!(error instanceof UnfinishedRecord)) throw error;
    return { record: error.record as Record, directory: error.directory, trouble: error.message };
  }
};

/**
 * Writes the reports of runs that have their verdict, and sets the exit code. What cannot be written is told in a line; the
 * verdict's exit code stays, unless it was a pass: something is missing then, which is a failure of the harness.
 */
export const conclude = async (
  context: CommandContext,
  ran: readonly Ran<{ readonly exitCode?: number | undefined }>[],
  flags: ReportFlags,
  pinned: Readonly<Record<string, string>> = {},
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
  if (troubles.length > 0) context.output.complain(`touchstone: ${troubles.join("\n            ")}`);
  const exitCode = troubles.length > 0 && verdict === exitCodes.passed ? exitCodes["harness-error"] : verdict;
  context.exitWith(exitCode);
  return { files, exitCode };
};
