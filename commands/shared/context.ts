import type { CommandClock } from "./clock.ts";
import type { Output } from "./output.ts";

/** What a command has of the process that it runs in. */
export interface CommandContext {
  readonly output: Output;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: CommandClock;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  /** Ends the command as Ctrl-C does. */
  readonly interrupt: () => void;
  /** To be called where a record begins that an interruption cuts short. */
  readonly recordingBegins: () => void;
  /** What the process ends with, unless an error says otherwise. */
  readonly exitWith: (code: number) => void;
  readonly freshUuid: () => string;
  /** A seed for a run that was given none. */
  readonly freshSeed: () => number;
  /** How users call this program, for the hints that it prints. */
  readonly programName: string;
  /** The file of this program, for processes of its own. */
  readonly programFile: string;
}
