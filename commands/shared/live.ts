import type { ConformOptions } from "../../conformance/engine/conform.ts";
import type { CommandContext } from "./context.ts";
import {
  afterResult,
  createProgress,
  progressAtStart,
  createLoadLive,
  type LiveSecond,
} from "../../reports/terminal/progress.ts";

/** The live line of the gate is redrawn at this interval, whether or not a rule settles. */
const REDRAWN_MS = 200;

const isSilent = ({ output }: CommandContext): boolean => output.manner().quiet || output.manner().json;

export const gateProgress = (context: CommandContext, ids: readonly string[]) => {
  const { clock, output } = context;
  const { palette } = output.page();
  const startedMs = clock.nowMs();
  let state = progressAtStart(ids);
  let waiting: () => typeof state.waiting = () => undefined;
  const line = createProgress(output.live, palette);
  const show = (): void => {
    if (isSilent(context)) return;
    const now = waiting();
    const shown = {
      ...state,
      elapsedMs: clock.nowMs() - startedMs,
      wallMs: clock.wallMs(),
      ...(now === undefined ? {} : { waiting: now }),
    };
    line.show(shown);
  };
  const stopRedrawing = clock.every(REDRAWN_MS, show);
  return {
    running: ({ clocks }: Parameters<NonNullable<ConformOptions["onRunning"]>>[0]) => {
      waiting = () => clocks.waiting();
    },
    result: (result: Parameters<NonNullable<ConformOptions["onResult"]>>[0]) => {
      state = afterResult(state, result);
      show();
    },
    stop: () => {
      stopRedrawing();
      line.clear();
    },
  };
};

export interface LoadView {
  readonly second: (second: LiveSecond) => void;
  readonly phase: (phase: string | undefined) => void;
  /** Prints a line that stays. */
  readonly say: (line: string) => void;
}

export const loadProgress = (
  context: CommandContext,
  durationMs: number,
): LoadView & { readonly stop: () => void } => {
  const seconds: LiveSecond[] = [];
  let now: string | undefined;
  const { live: stream } = context.output;
  const { palette } = context.output.page();
  const live = createLoadLive(stream, { palette, columns: stream.columns ?? 100 });
  const show = (): void => {
    if (!isSilent(context)) live.show({ seconds, durationMs, phase: now });
  };
  return {
    second: (second) => {
      seconds.push(second);
      show();
    },
    phase: (phase) => {
      now = phase;
      show();
    },
    say: (line) => {
      live.clear();
      context.output.say(line);
      show();
    },
    stop: () => live.clear(),
  };
};
