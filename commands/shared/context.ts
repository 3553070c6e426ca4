import type { Command } from "@commander-js/extra-typings";
import type { Output } from "./output.ts";

type CommandClock = typeof commandClock;

export const commandClock = {
  /** The time of day, in milliseconds since 1970. */
  wallMs: (): number => Date.now(),
  /** Monotonic, from an arbitrary origin. */
  nowMs: (): number => performance.now(),
  /** Repeats a task; the returned function stops it. */
  every: (intervalMs: number, task: () => void): (() => void) => {
    const timer = setInterval(task, intervalMs);
    return () => clearInterval(timer);
  },
};

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
