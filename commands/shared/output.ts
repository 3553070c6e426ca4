import { type CommandUnknownOpts, CommanderError } from "@commander-js/extra-typings";
import {
  harmless,
  harmlessColoured,
  harmlessJson,
  harmlessLines,
  jsonWithoutCommands,
  withoutCommands,
} from "../../conformance/contract/harmless-text.ts";
import { createSecrets, type Secrets } from "../../conformance/contract/secrets.ts";
import colors from "picocolors";
import { columnsOf, type Page } from "../../reports/terminal/palette.ts";
import { tmpdir } from "node:os";
import { exitCodes } from "../../conformance/contract/exit-codes.ts";
import { endedBy } from "../../conformance/contract/outcome.ts";
import { fileReason, hasNoRoom } from "../../conformance/contract/files.ts";
import { errorMessage } from "../../conformance/contract/text.ts";

export interface Manner {
  readonly quiet: boolean;
  /** How much of a result is printed. */
  readonly detail: "failures" | "brief" | "full";
  readonly json: boolean;
  readonly colour: boolean;
}

/**
 * Everything a command prints. Secrets are masked, and control sequences are escaped except for the program's own
 * colours.
 */
export interface Output {
  readonly manner: () => Manner;
  /** Whether nothing is shown while a run goes on. */
  readonly isSilent: () => boolean;
  /** The result, on standard output. */
  readonly print: (text: string) => void;
  readonly printJson: (value: unknown) => void;
  /** Progress and hints, on standard error; nothing if the command is quiet. */
  readonly say: (text: string) => void;
  /** Errors, on standard error. */
  readonly complain: (text: string) => void;
  /**
   * A line that is a command of a CI service, on standard output unless that holds a document. Nothing else that is
   * printed can be one.
   */
  readonly annotate: (line: string) => void;
  /** For live lines, which are rewritten in place on a terminal. */
  readonly live: Streams["stderr"];
  readonly page: () => Page;
  /** All credentials the command has met, so that errors, which may quote anything, show none of them. */
  readonly secrets: Secrets;
  readonly conceal: (tell: (secrets: Secrets) => void) => void;
}

/** Output streams; `process` has them. */
export interface Streams {
  readonly stdout: Pick<NodeJS.WriteStream, "write" | "columns"> & { readonly isTTY?: boolean };
  readonly stderr: Pick<NodeJS.WriteStream, "write"> & {
    readonly isTTY?: boolean;
    readonly columns?: number;
  };
}

export const createOutput = (manner: () => Manner, { stdout, stderr }: Streams = process): Output => {
  // Long-lived secrets are masked everywhere; codes and tokens in a result already have labels.
  const lasting = createSecrets();
  const met = createSecrets();
  const shown = (text: string): string => {
    const { colour, json } = manner();
    return ended(withoutCommands((colour && !json ? harmlessColoured : harmlessLines)(lasting.mask(text))));
  };
  return {
    manner,
    isSilent: () => manner().quiet || manner().json,
    print: (text) => void stdout.write(shown(text)),
    printJson: (value) =>
      void stdout.write(
        ended(jsonWithoutCommands(harmlessJson(lasting.mask(JSON.stringify(value, undefined, 2))))),
      ),
    say: (text) => void (manner().quiet || stderr.write(shown(text))),
    complain: (text) => void stderr.write(ended(withoutCommands(harmlessLines(met.mask(text))))),
    annotate: (line) => void (manner().json ? stderr : stdout).write(ended(harmless(lasting.mask(line)))),
    live: stderr,
    page: () => {
      const { colour, json } = manner();
      return { palette: colors.createColors(colour && !json), columns: columnsOf(stdout) };
    },
    secrets: met,
    conceal: (tell) => {
      for (const secrets of [lasting, met]) tell(secrets);
    },
  };
};

const ended = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** Sends the argument parser's own errors, which quote user input, through the output as well. */
export const complainThrough = (output: Output, command: CommandUnknownOpts): void => {
  const takesProfile = command.options.some(({ long }) => long === "--profile");
  const hint = takesProfile ? "$& To use a profile, write --profile FILE." : "$&";
  const writeErr = (text: string): void =>
    output.complain(
      text
        .replace(/^error: too many arguments.*\.(?:json|m?[jt]s)\b.*$/m, hint)
        .replace(/^(error: unknown option '--[rq]ps').*$/m, "$1 (Did you mean --rate?)")
        .replace(/^error: /, "touchstone: "),
    );
  command.configureOutput({ writeErr });
};

interface Ending {
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
