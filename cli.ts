#!/usr/bin/env node
import { randomInt, randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { Command } from "@commander-js/extra-typings";
import { commands } from "./commands/index.ts";
import { commandClock } from "./commands/shared/clock.ts";
import type { CommandContext } from "./commands/shared/context.ts";
import { endingOf } from "./commands/shared/exit.ts";
import { createOutput } from "./commands/shared/output.ts";
import { exitCodeMeanings, exitCodes } from "./conformance/contract/record.ts";
import { runOnBroughtNode } from "./conformance/runtime.ts";
import { tool } from "./conformance/tool.ts";
import { wantsColour } from "./reports/terminal/palette.ts";

/*
 * The entry: builds the program out of its commands, deals with interruptions and errors, and sets the exit
 * code. Neither this file nor the commands load a part before one is called, so that all of it also starts
 * on an older Node.
 */

const interruption = new AbortController();
/** Whether the command writes a record that an interruption cuts short. */
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
  programFile: fileURLToPath(import.meta.url),
};

const program = new Command("touchstone")
  .description("Says whether a service keeps the promises of its document.")
  .version(tool.version)
  .option("--no-color", "no colours")
  .option("-q, --quiet", "failures and totals only; no progress")
  .helpCommand(false)
  .addHelpText(
    "after",
    () =>
      `\nExit codes:\n${Object.entries(exitCodeMeanings)
        .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}\n`)
        .join("")}`,
  )
  .hook("preAction", (_, command) => {
    const all = command.optsWithGlobals() as { quiet?: boolean; color?: boolean; json?: boolean };
    const colour = manner.colour && all.color !== false;
    manner = { quiet: all.quiet === true, json: all.json === true, colour };
  });

/** Tells of an error, and returns the exit code that it stands for. */
const exitCodeFor = (error: unknown): number => {
  const { exitCode, message } = endingOf(error, interruption.signal.aborted);
  if (message !== undefined) output.complain(message);
  return exitCode;
};

/** One interruption ends the run in an orderly way; a second one ends the process. */
const onInterrupt = (): void => {
  if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
  interruption.abort();
  if (isRecording) output.say("\nStopping; what was recorded stays readable. Once more to quit at once.");
};

const main = async (): Promise<void> => {
  try {
    const elsewhere = await runOnBroughtNode(process.argv);
    if (elsewhere !== undefined) {
      process.exitCode = elsewhere;
      return;
    }
    for (const command of commands) program.addCommand(command(context));
    for (const command of [program, ...program.commands])
      command.exitOverride().showHelpAfterError("(--help tells more)");
    if (process.argv.length <= 2) program.help({ error: true });
    await program.parseAsync();
  } catch (error) {
    process.exitCode = exitCodeFor(error);
  }
};

// A reader that went away (`| head`) ends the output, not the run: its exit code still tells the outcome.
for (const stream of [process.stdout, process.stderr])
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
process.on("SIGINT", onInterrupt);
process.on("SIGTERM", onInterrupt);

// What escapes every handler would be printed as it is, with whatever its message quotes; and a crash report holds the environment.
process.on("uncaughtException", (error) => process.exit(exitCodeFor(error)));
process.report.excludeEnv = true;

await main();
