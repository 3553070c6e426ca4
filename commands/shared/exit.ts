import { CommanderError } from "@commander-js/extra-typings";
import { tmpdir } from "node:os";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { endedBy } from "../../conformance/contract/outcome.ts";
import { fileReason, hasNoRoom } from "../../conformance/contract/files.ts";
import { errorMessage } from "../../conformance/contract/text.ts";

export interface Ending {
  readonly exitCode: number;
  readonly message?: string;
}

/** Turns any error into one clear message and its exit code. */
export const endingOf = (error: unknown, interrupted: boolean): Ending => {
  // Commander has already printed it.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage };
  if (interrupted) return { exitCode: exitCodes.interrupted };
  const { outcome, exitCode } = endedBy(error);
  if (outcome !== "harness-error")
    return { exitCode, message: `touchstone: ${errorMessage(error).replaceAll("\n", "\n            ")}` };
  if (hasNoRoom(error))
    return {
      exitCode,
      message: `touchstone: a file could not be written: ${fileReason(error)}. Temporary files go to ${tmpdir()}; TMPDIR names another folder.`,
    };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    exitCode,
    message: `touchstone: internal error of Touchstone, not of the service:\n${detail}`,
  };
};
