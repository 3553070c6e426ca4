import { CommanderError } from "@commander-js/extra-typings";
import { exitCodes } from "../../conformance/contract/record.ts";
import { ConfigurationError, UnreachableError } from "../../conformance/problem.ts";

/** Errors of the parts that the user has to mend. By name, so that none of the parts is loaded for it. */
const usersErrors = [
  "UnknownBehaviour",
  "InvalidClients",
  "InvalidCertificate",
  "InvalidJournal",
  "IncomparableRuns",
  "InvalidLoad",
  "K6Missing",
  "InvalidPlan",
  "InvalidReceiver",
  "UnreadableRun",
  "UnwritableReport",
  "UnusableData",
  "PortInUse",
];

/** What an error comes to: the exit code, and what has to be told. */
export interface Ending {
  readonly exitCode: number;
  readonly message?: string;
}

/** Makes of every error one clear message and the exit code that it stands for. */
export const endingOf = (error: unknown, interrupted: boolean): Ending => {
  // Commander has told of it already.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : exitCodes.usage };
  if (interrupted) return { exitCode: exitCodes.interrupted };
  if (error instanceof ConfigurationError || isNamed(error, usersErrors))
    return {
      exitCode: exitCodes.usage,
      message: `touchstone: ${error.message.replaceAll("\n", "\n            ")}`,
    };
  if (isNamed(error, ["FakeNotStarted"]))
    return {
      exitCode:
        "exitCode" in error && error.exitCode === exitCodes.usage
          ? exitCodes.usage
          : exitCodes["harness-error"],
      message: `touchstone: ${error.message}`,
    };
  if (error instanceof UnreachableError || isNamed(error, ["TargetNotAnswering"]))
    return { exitCode: exitCodes.unreachable, message: `touchstone: ${error.message}` };
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    exitCode: exitCodes["harness-error"],
    message: `touchstone: an error of the harness itself, not of the service:\n${detail}`,
  };
};

export const isNamed = (error: unknown, names: readonly string[]): error is Error =>
  error instanceof Error && names.includes(error.name);
