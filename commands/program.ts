import { randomInt, randomUUID } from "node:crypto";
import { Command, Help, type OptionValues } from "@commander-js/extra-typings";
import { exitCodeMeanings, exitCodes } from "../conformance/contract/exit-codes.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { tool } from "../conformance/record/tool.ts";
import { columnsOf, wantsColour } from "../reports/terminal/palette.ts";
import { commandClock } from "./shared/clock.ts";
import type { CommandContext } from "./shared/context.ts";
import { fillFlags, refuseEmpty } from "./shared/flags.ts";
import { keepHeapSmall } from "./shared/heap.ts";
import {
  endingOf,
  complainThrough,
  createOutput,
  type Manner,
  type Output,
  type Streams,
} from "./shared/output.ts";
import { exampleLines } from "./flags/examples.ts";
import { conform, detect, doctor, init, ledger, replay, rules } from "./flags/gate.ts";
import { duet, load, merge, run } from "./flags/load.ts";
import { compare, history, report } from "./flags/reports.ts";
import { completion, health, receive, serve } from "./flags/services.ts";

/**
 * A command whose flags are defined immediately but which loads its code only when called, so that help and errors are
 * fast.
 */
const loading = <Arguments extends unknown[], Flags extends OptionValues>(
  definition: Command<Arguments, Flags>,
  load: () => Promise<{
    readonly run: (context: CommandContext, ...given: [...Arguments, Flags]) => Promise<void>;
  }>,
) => {
  definition.addHelpText("after", exampleLines(definition.name()));
  return (context: CommandContext) =>
    definition.action(async (...given) => {
      const { run } = await load();
      // Commander passes the command itself as the last argument.
      await run(context, ...(given.slice(0, -1) as [...Arguments, Flags]));
    });
};

export const commands = [
  loading(conform, () => import("./conform.ts")),
  loading(replay, () => import("./replay.ts")),
  loading(init, () => import("./init.ts")),
  loading(doctor, () => import("./doctor.ts")),
  loading(rules, () => import("./rules.ts")),
  loading(serve, () => import("./serve.ts")),
  loading(receive, () => import("./receive.ts")),
  loading(health, () => import("./health.ts")),
  loading(load, () => import("./load.ts")),
  loading(merge, () => import("./merge.ts")),
  loading(run, () => import("./run.ts")),
  loading(report, () => import("./report.ts")),
  loading(compare, () => import("./compare.ts")),
  loading(ledger, () => import("./ledger.ts")),
  loading(history, () => import("./history.ts")),
  loading(duet, () => import("./duet.ts")),
  loading(detect, () => import("./detect.ts")),
  loading(completion, () => import("./completion.ts")),
];

export interface Call {
  /** Arguments and flags, without the program name. */
  readonly given: readonly string[];
  readonly environment: NodeJS.ProcessEnv;
  readonly streams: Streams;
  readonly programFile: string;
}

export interface Running {
  /** The exit code. Never rejects. */
  readonly ended: Promise<number>;
  readonly interruption: AbortController;
  readonly output: Output;
  readonly isRecording: () => boolean;
  /** Reports an otherwise uncaught error and returns its exit code. */
  readonly failWith: (error: unknown) => number;
}

export const start = ({ given, environment, streams, programFile }: Call): Running => {
  const interruption = new AbortController();
  let isRecording = false;
  let exitCode = 0;
  let manner: Manner = {
    quiet: false,
    detail: "brief",
    json: false,
    colour: wantsColour(environment, streams.stdout),
  };
  const output = createOutput(() => manner, streams);
  const context: CommandContext = {
    output,
    environment,
    clock: commandClock,
    signal: interruption.signal,
    interrupt: () => interruption.abort(),
    recordingBegins: () => {
      isRecording = true;
    },
    exitWith: (code) => {
      exitCode = code;
    },
    freshUuid: randomUUID,
    freshSeed: () => randomInt(2 ** 31),
    programName: programNameOf(environment, programFile),
    programFile,
  };
  const failWith = (error: unknown): number => {
    const { exitCode: code, message } = endingOf(error, interruption.signal.aborted);
    if (message !== undefined) output.complain(message);
    return code;
  };
  const ended = parse(context, given, (flags) => {
    manner = { ...flags, colour: manner.colour && flags.colour };
  }).then(() => exitCode, failWith);
  return { ended, interruption, output, isRecording: () => isRecording, failWith };
};

/** The command that users type: a script of the checkout, their package manager, or the program's own name. */
const programNameOf = (environment: NodeJS.ProcessEnv, programFile: string): string => {
  if (["touchstone", "start"].includes(environment["npm_lifecycle_event"] ?? ""))
    return "npm run --silent touchstone --";
  const isPackage = !programFile.endsWith(".ts");
  // If the package is not installed, npx would fetch whatever package has the command's name.
  return isPackage && environment["npm_config_user_agent"] !== undefined ? `npx ${tool.name}` : "touchstone";
};

/** Runs the command in the process's arguments, handles interruptions and errors, and sets the exit code. */
export const main = async (programFile: string): Promise<void> => {
  const [, , ...given] = process.argv;
  // Before the command is loaded: a heap that has grown is dear to shrink.
  if (given.includes("conform") || given.includes("run")) keepHeapSmall();
  const running = start({ given, environment: process.env, streams: process, programFile });
  guardProcess(running);
  process.exitCode = await running.ended;
};

const parse = async (
  context: CommandContext,
  given: readonly string[],
  talk: (manner: Manner) => void,
): Promise<void> => {
  const program = new Command("touchstone")
    .description("Check whether a service keeps the promises of its document.")
    .version(tool.version)
    .option("--no-color", "print no colours")
    .option("-q, --quiet", "print only failures and totals; no progress")
    .option("-v, --verbose", "print every rule, every observation and all measurements")
    .addHelpText("after", () => `\nExit codes:\n${exitCodeLines()}`)
    .hook("preAction", (_, command) => {
      const all = command.optsWithGlobals() as Partial<
        Readonly<Record<"quiet" | "verbose" | "color" | "json", boolean>>
      >;
      if (all.quiet === true && all.verbose === true)
        throw new ConfigurationError("--verbose and --quiet contradict each other; remove one");
      refuseEmpty(
        command.options.map(
          (option) => [option.long, command.getOptionValue(option.attributeName())] as const,
        ),
      );
      talk({
        quiet: all.quiet === true,
        detail: all.quiet === true ? "failures" : all.verbose === true ? "full" : "brief",
        json: all.json === true,
        colour: all.color !== false,
      });
      const found = fillFlags(command, context.environment);
      if (found !== undefined)
        context.output.say(`Profile ${found} of this folder; --fake judges the embedded fake.`);
    });
  for (const command of commands) program.addCommand(command(context));
  for (const command of [program, ...program.commands]) {
    command
      .configureHelp({ ...narrowHelp, showGlobalOptions: true })
      .exitOverride()
      .showHelpAfterError("(see --help)");
    complainThrough(context.output, command);
  }
  if (given.length === 0) program.help({ error: true });
  await program.parseAsync(given, { from: "user" });
};

/** A column of descriptions narrower than this is harder to read than descriptions below their flags. */
const LEAST_COLUMN = 40;
const INDENT = " ".repeat(6);

/** Help puts descriptions below their flags on a terminal that is too narrow for two columns. */
export const narrowHelp = {
  minWidthToWrap: 20,
  prepareContext(this: Help, { helpWidth = 80 }: { readonly helpWidth?: number }): void {
    this.helpWidth = this.helpWidth ?? columnsOf({ columns: Math.min(120, helpWidth) });
  },
  formatItem(term: string, termWidth: number, description: string, helper: Help): string {
    const width = helper.helpWidth ?? 80;
    if (description === "" || width - termWidth - 4 >= LEAST_COLUMN)
      return new Help().formatItem.call(helper, term, termWidth, description, helper);
    const lines = helper.boxWrap(description, width - INDENT.length).split("\n");
    return [`  ${term}`, ...lines.map((line) => INDENT + line)].join("\n");
  },
};

const exitCodeLines = (): string =>
  Object.entries(exitCodeMeanings)
    .map(([code, meaning]) => `  ${code.padStart(3)}  ${meaning}\n`)
    .join("");

/** Handles interruptions and uncaught errors. */
const guardProcess = ({ interruption, isRecording, output, failWith }: Running): void => {
  const interrupt = (): void => {
    // The first interruption stops the run in order; the second ends the process.
    if (interruption.signal.aborted) process.exit(exitCodes.interrupted);
    interruption.abort();
    output.say(
      isRecording()
        ? "\nStopping; what was recorded stays readable. Press Ctrl-C again to quit immediately."
        : "\nStopping.",
    );
  };
  // If the reader goes away (`| head`), only the output ends: the run continues to its exit code.
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  // An uncaught error would be printed raw, with whatever its message quotes, and a crash report would
  // include the environment.
  process.on("uncaughtException", (error) => process.exit(failWith(error)));
  process.report.excludeEnv = true;
  // Node's own words of a warning go through the output too; what Node 22 calls experimental, later ones keep as it is.
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => {
    if (name !== "ExperimentalWarning") output.complain(`touchstone: ${name}: ${message}`);
  });
};
