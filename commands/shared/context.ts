import type { CommandClock } from "./clock.ts";
import type { Command } from "@commander-js/extra-typings";
import type { Output } from "./output.ts";

export interface CommandContext {
  readonly output: Output;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: CommandClock;
  /** Aborted by the first Ctrl-C. */
  readonly signal: AbortSignal;
  readonly interrupt: () => void;
  /** Called before a record begins that an interruption would cut short. */
  readonly recordingBegins: () => void;
  /** Sets the exit code; an error overrides it. */
  readonly exitWith: (code: number) => void;
  readonly freshUuid: () => string;
  readonly freshSeed: () => number;
  /** How users call this program, for printed hints. */
  readonly programName: string;
  readonly programFile: string;
}

export type Action<Definition> =
  Definition extends Command<infer Arguments, infer Flags>
    ? (context: CommandContext, ...given: [...Arguments, Flags]) => Promise<void>
    : never;
