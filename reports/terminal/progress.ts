import type { RuleResult } from "../../conformance/contract/record.ts";
import { elapsed, plural, figure, latency } from "../text/figures.ts";
import { cut, width } from "../text/layout.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import { columnsOf, type Page, type Palette } from "./palette.ts";
import { stripVTControlCharacters } from "node:util";
import { breachesIn, requestsIn } from "../../conformance/contract/second-counts.ts";
import type { Latencies, SecondLine } from "../../conformance/contract/load-record.ts";

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
  /** Until when pushes are watched in real time, as wall time. */
  readonly watching?: { readonly untilMs: number };
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
const waitedFor = ({ waiting, watching, wallMs }: ProgressState) => {
  const { sleepers = 0, nextInMs, movingForMs = 0 } = waiting ?? {};
  const watchedMs = (watching?.untilMs ?? 0) - (wallMs ?? 0);
  if (watchedMs > 0)
    return {
      what: "pushes are watched",
      span: `${elapsed(watchedMs)} more`,
      moment: (now: number) => `until ${utc(now + watchedMs)}`,
    };
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

const LEAST_INTERVAL_MS = 50;
const NOTED_EVERY_MS = 10_000;
const eraseLine = "\r\u001b[2K";

/** Says how long pushes are watched in real time, and how long they would have to be. */
export const watchNote = ({
  leftMs,
  neededMs,
  untilMs,
}: Readonly<Record<"leftMs" | "neededMs" | "untilMs", number>>): string =>
  `pushes are watched in real time for ${elapsed(leftMs)}, until ${utc(untilMs)}` +
  (neededMs > leftMs + ROUNDING_MS
    ? `: --max-wait ends this before all rules can be judged, which takes ${elapsed(neededMs)}`
    : "");

const ROUNDING_MS = 1_000;

/** A line that is rewritten a few times per second at most; without a terminal, one is added now and then. */
export const createProgress = (stream: ProgressStream, palette: Palette) => {
  let shownAtMs: number | undefined;
  let notedAtMs: number | undefined;
  return {
    show: (state: ProgressState): void => {
      if (stream.isTTY !== true) {
        if (notedAtMs !== undefined && state.elapsedMs - notedAtMs < NOTED_EVERY_MS) return;
        stream.write(`${progressNote(notedAtMs === undefined ? { ...state, elapsedMs: 0 } : state)}\n`);
        notedAtMs = state.elapsedMs;
        return;
      }
      if (shownAtMs !== undefined && state.elapsedMs - shownAtMs < LEAST_INTERVAL_MS) return;
      shownAtMs = state.elapsedMs;
      // The last column stays free: some terminals wrap once it is written.
      stream.write(eraseLine + progressLine(state, { palette, columns: columnsOf(stream) - 1 }));
    },
    /** Adds a line that stays. */
    note: (text: string): void => {
      stream.write(`${shownAtMs === undefined ? "" : eraseLine}${text}\n`);
      shownAtMs = undefined;
    },
    clear: (): void => {
      if (shownAtMs !== undefined) stream.write(eraseLine);
      shownAtMs = undefined;
    },
  };
};

/** A second of a load run with the latencies of all endpoints' granted requests together. */
export interface LiveSecond {
  readonly line: SecondLine;
  readonly latencies?: Pick<Latencies, "p50Ms" | "p95Ms" | "p99Ms"> | undefined;
}

export interface LoadLiveState {
  readonly seconds: readonly LiveSecond[];
  readonly durationMs: number;
  readonly requestsPerIteration: number;
  /** What happens beside the load, such as waiting for retries. */
  readonly phase?: string | undefined;
}

const countsOf = (seconds: readonly LiveSecond[]) => {
  const lines = seconds.map(({ line }) => line);
  const { failed, all: done } = requestsIn(lines);
  const dropped = lines.reduce((sum, line) => sum + line.dropped, 0);
  return { done, failed, dropped, breaches: breachesIn(lines) };
};

export const loadLine = (
  { seconds, durationMs, requestsPerIteration, phase }: LoadLiveState,
  { palette, columns }: Page,
): string => {
  // A second behind the end, in which nothing was asked or answered, would say that the service stood still.
  const last = seconds.findLast((one) => one.line.asked > 0 || countsOf([one]).done > 0) ?? seconds.at(-1);
  if (last === undefined) return palette.dim(phase ?? "starting k6");
  const now = countsOf([last]);
  const all = countsOf(seconds);
  const bad = (text: string, count: number): string => (count === 0 ? palette.dim(text) : palette.red(text));
  const p = last.latencies;
  const total = Math.round(durationMs / 1_000);
  const asked = Math.round(last.line.asked * requestsPerIteration);
  const parts: readonly Part[] = [
    ...(phase === undefined ? [] : [{ text: palette.dim(phase), keep: 1 }]),
    // Answers may still arrive after the load has ended.
    { text: `${Math.min(last.line.second + 1, total)}/${total} s`, keep: 4 },
    { text: `${figure(now.done)}${asked === 0 ? "" : ` of ${figure(asked)}`} requests/s`, keep: 3 },
    ...(p === undefined
      ? [{ text: "no answer", keep: 3 }]
      : [
          { text: `p50 ${latency(p.p50Ms)}`, keep: 1 },
          { text: `p95 ${latency(p.p95Ms)}`, keep: 3 },
          { text: `p99 ${latency(p.p99Ms)}`, keep: 2 },
        ]),
    { text: bad(`${figure(all.failed)} failed`, all.failed), keep: 5 },
    { text: bad(plural(all.breaches, "breach", "breaches"), all.breaches), keep: 5 },
    { text: bad(`${figure(all.dropped)} dropped`, all.dropped), keep: 5 },
  ];
  return fitting(parts, columns).join("  ");
};

/** A part of the line; if not all fit, those with the lowest `keep` are dropped first. */
interface Part {
  readonly text: string;
  readonly keep: number;
}

const fitting = (parts: readonly Part[], columns: number): readonly string[] => {
  const texts = parts.map(({ text }) => text);
  if (parts.length < 2 || width(texts.join("  ")) <= columns) return texts;
  const least = Math.min(...parts.map(({ keep }) => keep));
  const leaves = parts.findLastIndex(({ keep }) => keep === least);
  return fitting(parts.toSpliced(leaves, 1), columns);
};

/** Without a terminal, prints a plain line at this interval and whenever the phase changes. */
const PLAIN_EVERY_SECONDS = 5;

export const createLoadLive = (stream: ProgressStream, page: Page) => {
  let isShown = false;
  let told = -1;
  let toldPhase: string | undefined;
  const clear = (): void => {
    if (isShown) stream.write(eraseLine);
    isShown = false;
  };
  return {
    clear,
    show: (state: LoadLiveState): void => {
      if (stream.isTTY === true) {
        const columns = columnsOf(stream) - 1;
        stream.write(eraseLine + cutLine(loadLine(state, { ...page, columns }), columns));
        isShown = true;
        return;
      }
      const { phase } = state;
      if (phase !== toldPhase && phase !== undefined) stream.write(`${page.palette.dim(phase)}\n`);
      toldPhase = phase;
      const second = state.seconds.at(-1)?.line.second;
      if (second === undefined || second === told || (second + 1) % PLAIN_EVERY_SECONDS !== 0) return;
      told = second;
      stream.write(`${loadLine(state, { ...page, columns: Infinity })}\n`);
    },
  };
};

/** Leaves a coloured line intact if it fits; removes the colours if it must be cut. */
const cutLine = (line: string, columns: number): string =>
  width(line) <= columns ? line : cut(stripVTControlCharacters(line), columns);
