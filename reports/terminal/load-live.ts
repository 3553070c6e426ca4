import { stripVTControlCharacters } from "node:util";
import type { ProgressStream } from "./progress.ts";
import { breachesIn, requestsIn } from "../../conformance/contract/second-counts.ts";
import type { Latencies, SecondLine } from "../../conformance/contract/load-record.ts";
import { figure, plural, latency, sparkline } from "../text/figures.ts";
import { cut, width } from "../text/layout.ts";
import type { Page } from "./palette.ts";

/** A second of a load run with the latencies of all endpoints' granted requests together. */
export interface LiveSecond {
  readonly line: SecondLine;
  readonly latencies?: Pick<Latencies, "p50Ms" | "p95Ms" | "p99Ms"> | undefined;
}

export interface LoadLiveState {
  readonly seconds: readonly LiveSecond[];
  readonly durationMs: number;
  /** What happens beside the load, such as waiting for retries, and the current step of a search. */
  readonly phase?: string | undefined;
}

const countsOf = (seconds: readonly LiveSecond[]) => {
  const lines = seconds.map(({ line }) => line);
  const { failed, all: done } = requestsIn(lines);
  const dropped = lines.reduce((sum, line) => sum + line.dropped, 0);
  return { done, failed, dropped, breaches: breachesIn(lines) };
};

export const loadLine = (
  { seconds, durationMs, phase }: LoadLiveState,
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
  const parts: readonly Part[] = [
    ...(phase === undefined ? [] : [{ text: palette.dim(phase), keep: 1 }]),
    // Answers may still arrive after the load has ended.
    { text: `${Math.min(last.line.second + 1, total)}/${total} s`, keep: 4 },
    { text: arrivalsText(last.line.started, last.line.asked), keep: 0 },
    { text: `${figure(now.done)} requests/s`, keep: 3 },
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

const arrivalsText = (started: number, asked: number): string => {
  const arrivals = `${figure(Math.round(started))} arrivals/s`;
  return Math.round(asked) === 0 ? arrivals : `${arrivals} (${figure(Math.round(asked))} asked)`;
};

const SPARKS = 40;

export const loadLines = (state: LoadLiveState, page: Page): readonly string[] => {
  const line = loadLine(state, page);
  const history = state.seconds.flatMap(({ latencies }) => latencies?.p95Ms ?? []);
  if (history.length < 2) return [line];
  return [line, page.palette.dim(`p95  ${sparkline(history, Math.min(SPARKS, page.columns - 6))}`)];
};

/** Without a terminal, prints a plain line at this interval and whenever the phase changes. */
const PLAIN_EVERY_SECONDS = 5;
const up = "\u001b[1A";
const erase = "\r\u001b[2K";

export const createLoadLive = (stream: ProgressStream, page: Page) => {
  let shown = 0;
  let told = -1;
  let toldPhase: string | undefined;
  const clear = (): void => {
    if (shown > 0) stream.write(erase + (up + erase).repeat(shown - 1));
    shown = 0;
  };
  return {
    clear,
    show: (state: LoadLiveState): void => {
      const columns = (stream.columns ?? 100) - 1;
      if (stream.isTTY === true) {
        clear();
        const lines = loadLines(state, { ...page, columns });
        stream.write(lines.map((line) => cutLine(line, columns)).join("\n"));
        shown = lines.length;
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
