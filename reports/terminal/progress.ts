import type { RuleResult } from "../../conformance/contract/record.ts";
import { elapsed, plural } from "../text/figures.ts";
import { cut, width } from "../text/layout.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import type { Page, Palette } from "./palette.ts";

export interface ProgressState {
  readonly ids: readonly string[];
  readonly settled: ReadonlySet<string>;
  readonly failed: number;
  readonly elapsedMs: number;
  /** Sleeping rules, and the time to the next wake-up if known. */
  readonly waiting?: {
    readonly sleepers: number;
    readonly nextInMs: number | undefined;
    /** How long the hook that moves the target's clock has been running. */
    readonly movingForMs?: number | undefined;
  };
  /** Wall time in milliseconds since 1970, for lines that are read later. */
  readonly wallMs?: number;
}

export const progressAtStart = (ids: readonly string[]): ProgressState => ({
  ids,
  settled: new Set(),
  failed: 0,
  elapsedMs: 0,
});

export const afterResult = (state: ProgressState, { id, verdict }: RuleResult): ProgressState => ({
  ...state,
  settled: new Set([...state.settled, id]),
  failed: state.failed + (verdict.kind === "failed" ? 1 : 0),
});

const BAR = 20;

export const progressLine = (state: ProgressState, { palette, columns }: Page): string => {
  const [done, total] = [state.settled.size, state.ids.length];
  const filled = total === 0 ? 0 : Math.round((BAR * done) / total);
  const bar = palette.green("━".repeat(filled)) + palette.dim("─".repeat(BAR - filled));
  const failed = state.failed === 0 ? "" : `  ${palette.red(`${state.failed} failed`)}`;
  const head = `${bar}  ${done}/${total} rules${failed}  ${palette.dim(elapsed(state.elapsedMs))}`;
  const left = columns - width(head) - 2;
  const tail = tailOf(state);
  return tail === "" || left < 12 ? head : `${head}  ${palette.dim(cut(tail, left))}`;
};

/** A hook call longer than this is shown as what the run waits for. */
const SLOW_MS = 500;

/** What the run waits for, how long, and from or until when; undefined if nothing. */
const waitedFor = ({ waiting }: ProgressState) => {
  const { sleepers = 0, nextInMs, movingForMs = 0 } = waiting ?? {};
  if (sleepers > 0 && nextInMs !== undefined)
    return {
      what: `${plural(sleepers, "rule waits", "rules wait")}, the next`,
      span: `${elapsed(nextInMs)} more`,
      moment: (wallMs: number) => `until ${utc(wallMs + nextInMs)}`,
    };
  if (movingForMs < SLOW_MS) return undefined;
  return {
    what: "waiting for hooks.clock.advance",
    span: elapsed(movingForMs),
    moment: (wallMs: number) => `since ${utc(wallMs - movingForMs)}`,
  };
};

const utc = (wallMs: number): string => `${new Date(wallMs).toISOString().slice(11, 19)} UTC`;

const tailOf = (state: ProgressState): string => {
  const waited = waitedFor(state);
  if (waited !== undefined) return `${waited.what} for ${waited.span}`;
  const running = state.ids.filter((id) => !state.settled.has(id));
  return running.length === 0 ? "" : `running ${harmless(running.join(", "))}`;
};

export const progressNote = (state: ProgressState): string => {
  const { settled, ids, failed, elapsedMs, wallMs } = state;
  if (elapsedMs === 0) return `judging ${plural(ids.length, "rule")}`;
  const running = ids.filter((id) => !settled.has(id));
  const named = harmless(running.slice(0, MOST_NAMED).join(", "));
  const names = running.length > MOST_NAMED ? `${named} and ${running.length - MOST_NAMED} more` : named;
  const waited = waitedFor(state);
  const until =
    waited === undefined || wallMs === undefined
      ? ""
      : `; ${waited.what} ${waited.moment(wallMs)} (${waited.span})`;
  return `${settled.size} of ${plural(ids.length, "rule")} settled after ${elapsed(elapsedMs)}, ${failed} failed${until}${running.length === 0 ? "" : `; unsettled: ${names}`}`;
};

const MOST_NAMED = 5;

export interface ProgressStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

export interface Progress {
  /**
   * Rewrites the line, limited to a few times per second; without a terminal, adds a line at the start and now and
   * then.
   */
  show(state: ProgressState): void;
  /** Erases the line, before other text or for good. */
  clear(): void;
}

const LEAST_INTERVAL_MS = 50;
const NOTED_EVERY_MS = 10_000;
const eraseLine = "\r\u001b[2K";

export const createProgress = (stream: ProgressStream, palette: Palette): Progress => {
  let shownAtMs: number | undefined;
  let notedAtMs: number | undefined;
  return {
    show: (state) => {
      if (stream.isTTY !== true) {
        if (notedAtMs !== undefined && state.elapsedMs - notedAtMs < NOTED_EVERY_MS) return;
        stream.write(`${progressNote(notedAtMs === undefined ? { ...state, elapsedMs: 0 } : state)}\n`);
        notedAtMs = state.elapsedMs;
        return;
      }
      if (shownAtMs !== undefined && state.elapsedMs - shownAtMs < LEAST_INTERVAL_MS) return;
      shownAtMs = state.elapsedMs;
      // The last column stays free: some terminals wrap once it is written.
      stream.write(eraseLine + progressLine(state, { palette, columns: (stream.columns ?? 80) - 1 }));
    },
    clear: () => {
      if (shownAtMs !== undefined) stream.write(eraseLine);
      shownAtMs = undefined;
    },
  };
};
