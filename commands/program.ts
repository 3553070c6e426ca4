import { randomInt, randomUUID } from "node:crypto";
import { Command } from "@commander-js/extra-typings";
import { exitCodeMeanings, exitCodes } from "../conformance/contract/exit-codes.ts";
import { tool } from "../conformance/record/tool.ts";
import { wantsColour } from "../reports/terminal/palette.ts";
import { exampleLines } from "./flags/examples.ts";
import { commands } from "./index.ts";
import { commandClock } from "./shared/clock.ts";
import type { CommandContext } from "./shared/context.ts";
import { endingOf } from "./shared/exit.ts";
import { complainThrough, createOutput } from "./shared/output.ts";

/** Runs the command that the process was called with, deals with interruptions and errors, and sets the exit code. */
export const main = async (programFile: string): Promise<void> => {
  const interruption = new AbortController();
  let isRecording = false;
  let manner = { quiet: false, json: false, colour: wantsColour(process.env, process.stdout) };
  const output = createOutput(() => manner);
  const context: CommandContext = {
    output,
    environment: process.env,
    clock: commandClock,
    signal: interruption.signal,
    interrupt: () => interruption.abort(),
    recordingBegins: () => {
      isRecording = true;
    },
    exitWith: (code) => {
      process.exitCode = code;
    },
    freshUuid: randomUUID,
    freshSeed: () => randomInt(2 ** 31),
    // By the script of a checkout, or by its own name.
    programName: ["touchstone", "start"].includes(process.env["npm_lifecycle_event"] ?? "")
      ? "npm run --silent touchstone --"
      : "touchstone",
    programFile,
  };
  const failWith = (error: unknown): number => {
    const { exitCode, message } = endingOf(error, interruption.signal.aborted);
    if (message !== undefined) output.complain(message);
    return exitCode;
  };
  guardProcess(failWith, () => {
    // One interruption ends the run in an orderly way; a second one ends the process.
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
    interruption.abort();
    output.say(
      isRecording
        ? "\nStopping; what was recorded stays readable. Once more to quit at once."
        : "\nStopping; nothing was recorded yet.",
    );
  });
  try {
    await parse(context, (flags) => {
      manner = { ...flags, colour: manner.colour && flags.colour };
    });
  } catch (error) {
    process.exitCode = failWith(error);
  }
};

const parse = async (
  context: CommandContext,
  talk: (manner: { readonly quiet: boolean; readonly json: boolean; readonly colour: boolean }) => void,
): Promise<void> => {
  const program = new Command("touchstone")
    .description("Check whether a service keeps the promises of its document.")
    .version(tool.version)
    .option("--no-color", "print no colours")
    .option("-q, --quiet", "print only failures and totals; no progress")
    .helpCommand(false)
    .addHelpText("after", () => `\nExit codes:\n${exitCodeLines()}`)
    .hook("preAction", (_, command) => {
      const all = command.optsWithGlobals() as { quiet?: boolean; color?: boolean; json?: boolean };
      talk({ quiet: all.quiet === true, json: all.json === true, colour: all.color !== false });
    });
  for (const make of commands) {
    const command = make(context);
    program.addCommand(command.addHelpText("after", exampleLines(command.name())));
  }
  for (const command of [program, ...program.commands]) {
    command.exitOverride().showHelpAfterError("(--help tells more)");
    complainThrough(context.output, command);
  }
  if (process.argv.length <= 2) program.help({ error: true });
  await program.parseAsync();
};

const exitCodeLines = (): string =>
  Object.entries(exitCodeMeanings)
    .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}\n`)
    .join("");

const guardProcess = (failWith: (error: unknown) => number, onInterrupt: () => void): void => {
  // A reader that went away (`| head`) ends the output, not the run: its exit code still tells the outcome.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onInterrupt);
  // What escapes every handler would be printed as it is, with whatever its message quotes; and a crash report holds the environment.
  process.on("uncaughtException", (error) => process.exit(failWith(error)));
  process.report.excludeEnv = true;
};
