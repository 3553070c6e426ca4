import { CommanderError } from "@commander-js/extra-typings";
import { ConfigurationError, UnreachableError } from "../../conformance/contract/problem.ts";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";

export interface Ending {
  readonly exitCode: number;
  readonly message?: string;
}

/** Turns any error into one clear message and its exit code. */
export const endingOf = (error: unknown, interrupted: boolean): Ending => {
  // Commander has already printed it.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage };
  if (interrupted) return { exitCode: exitCodes.interrupted };
  if (error instanceof ConfigurationError)
    return {
      exitCode: exitCodes.usage,
      message: `touchstone: ${error.message.replaceAll("\n", "\n            ")}`,
    };
  if (error instanceof UnreachableError)
    return { exitCode: exitCodes.unreachable, message: `touchstone: ${error.message}` };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    exitCode: exitCodes["harness-error"],
    message: `touchstone: internal error of Touchstone, not of the service:\n${detail}`,
  };
};
