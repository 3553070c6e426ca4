import type { K6End } from "../k6/exit.ts";
import { startK6, type RunningK6, type StartOptions, type LogLine } from "../k6/start.ts";
import { createReadings, type Readings } from "./readings.ts";
import type { LoadBreach, LoadRule } from "../../../conformance/contract/load-record.ts";
import { issuedOnce } from "../../../conformance/judging/laws/tokens.ts";
import {
  issuedNames,
  issuedRules,
  type Issued,
  type ScriptMessage,
  type ScriptSettings,
} from "../../protocol.ts";
import type { LoadSink } from "../record.ts";
import {
  createBreaches,
  maskOf,
  type BreachMessage,
  type Breaches,
  createUniqueness,
  type Duplicate,
  type Uniqueness,
} from "./breaches.ts";
import { logLines } from "./histograms.ts";
import { createRowReader, type RowSink } from "./rows.ts";
import { createSeconds, type ClosedSecond, type Seconds } from "./seconds.ts";
import { createTotals, type Totals } from "./totals.ts";
import { shareOf } from "../segment-plan.ts";

export interface LoadOptions
  extends Omit<StartOptions, "onSamples" | "onLog" | "settings">, CollectorOptions {
  /** Ends the load: k6 stops its iterations, and the measurements are kept. */
  readonly signal?: AbortSignal | undefined;
}

export interface LoadResult extends Collected {
  readonly end: K6End;
  /** Why the load ended early; absent if it did not. */
  readonly stopped?: string;
  readonly notes: readonly string[];
}

/**
 * Runs k6 on a script and collects its output, second by second, into the sink. Resolves with the run's results when k6
 * has ended, for whatever reason. Throws K6Failed if k6 cannot be started or its samples cannot be read.
 */
export const runLoad = async (options: LoadOptions): Promise<LoadResult> => {
  const { clock, signal } = options;
  let k6: RunningK6 | undefined;
  let stopped: string | undefined;
  let readings: Readings | undefined;
  const stop = (reason: string): void => {
    if (stopped !== undefined) return;
    stopped = reason;
    k6?.stop();
  };
  const collector = createCollector(options, stop);
  const onAbort = (): void => stop("interrupted");
  try {
    signal?.throwIfAborted();
    k6 = await startK6({ ...options, onSamples: collector.samples, onLog: collector.log });
    readings = createReadings(k6.pid, clock);
    collector.watch(readings.read);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    // Something may have failed while k6 was starting.
    if (stopped !== undefined) k6.stop();
    const end = await k6.ended;
    collector.close();
    const early = stopped ?? (end.says === "finished" ? undefined : `k6 ${end.meaning}`);
    return {
      ...collector.summary(early === undefined),
      end,
      ...(early === undefined ? {} : { stopped: early }),
      notes: k6.ignored.length === 0 ? [] : [`k6 did not get ${k6.ignored.join(", ")}`],
    };
  } catch (error) {
    // Measurements so far stay in the record.
    collector.close();
    throw error;
  } finally {
    readings?.close();
    signal?.removeEventListener("abort", onAbort);
  }
};

export interface CollectorOptions {
  readonly sink: LoadSink;
  readonly settings: ScriptSettings;
  readonly warmUpMs: number;
  /** Called each second; a returned reason ends the load. */
  readonly onSecond?: (second: ClosedSecond) => string | undefined;
  /** An event was triggered and acknowledged. Moments are wall-clock milliseconds. */
  readonly onEvent?: (sentAtMs: number, account: string, notification: string | undefined) => void;
  /** Secrets in addition to those of the clients. */
  readonly hidden?: readonly string[];
}

export interface Collected extends Totals, ScriptLog {
  /** When the load began, in wall-clock milliseconds; undefined if it never did. */
  readonly startedAtMs: number | undefined;
  readonly rules: readonly LoadRule[];
  /** The first breach of each rule, masked. */
  readonly breaches: readonly LoadBreach[];
  readonly setUp?: { readonly tookMs: number; readonly lateMs: number };
}

/** Consumes k6's samples and log, and writes them second by second to the sink. `stop` ends the load. */
export const createCollector = (options: CollectorOptions, stop: (reason: string) => void) => {
  const { sink, settings, warmUpMs, onEvent, hidden = [] } = options;
  const stages = shareOf(settings.stages, settings.segment);
  const secrets = [...settings.clients.map(({ secret }) => secret), ...hidden];
  const breaches = createBreaches(settings.stages, secrets);
  const totals = createTotals(stages, warmUpMs);
  const uniqueness = createUniqueness();
  let read: Readings["read"] = () => ({});
  let setUp: Collected["setUp"];

  const tell = createTeller(options, totals, stop);
  const closed = (second: ClosedSecond): void => tell(second, seconds.startedAtMs() ?? 0);
  const seconds = createSeconds(stages, (fromMs, toMs) => read(fromMs, toMs), closed);
  const sinceStart = (atMs: number): number => atMs - (seconds.startedAtMs() ?? atMs);
  const prove = (message: BreachMessage): void => {
    const breach = breaches.proof(message, sinceStart(message.atEpochMs));
    if (breach !== undefined) sink.breach(breach);
  };
  const rows = createRowReader({
    ...rowsOf(seconds, breaches),
    issued: (atMs, what, digest) => {
      const rule = issuedRules[what as Issued];
      if (rule === undefined) return;
      breaches.checked(rule, 1);
      sink.digest(what as Issued, digest, sinceStart(atMs));
      const duplicate = uniqueness.add(rule, what, digest, sinceStart(atMs));
      if (duplicate === undefined) return;
      seconds.breach(atMs, rule);
      breaches.count(rule);
      prove({ ...proofOf(rule, duplicate), atEpochMs: atMs });
    },
    event: (_, sentAtMs, account, notification) => onEvent?.(sentAtMs, account, notification),
  });
  const log = createScriptLog(maskOf(secrets, [settings.digestKey]), sink, (message) => {
    if (message.kind === "breach") prove(message);
    else setUp = { tookMs: message.tookMs, lateMs: message.lateMs };
  });
  return {
    samples: rows,
    log: log.take,
    /** Measures the cost of the load from here on. */
    watch: (given: Readings["read"]): void => void (read = given),
    /** Closes open seconds, so that the record has all measurements. */
    close: seconds.finish,
    summary: (isWhole: boolean): Collected => ({
      ...totals.summary(seconds.elapsedMs(), isWhole),
      ...log.log,
      startedAtMs: seconds.startedAtMs(),
      rules: rulesOf(breaches, uniqueness),
      breaches: breaches.kept(),
      ...(setUp === undefined ? {} : { setUp }),
    }),
  };
};

const rowsOf = (seconds: Seconds, breaches: Breaches): Omit<RowSink, "issued" | "event"> => ({
  ...seconds,
  start: seconds.begin,
  checks: (_, rule, count) => breaches.checked(rule, count),
  breach: (atMs, rule) => {
    seconds.breach(atMs, rule);
    breaches.count(rule);
  },
});

/** The rules, with a note if credentials were not compared with all others of the run. */
const rulesOf = (breaches: Breaches, { note }: Uniqueness): readonly LoadRule[] => {
  const text = note();
  if (text !== undefined) for (const rule of new Set(Object.values(issuedRules))) breaches.note(rule, text);
  return breaches.rules();
};

/** Adds, writes and reports each second, and ends the load if there is a reason to. */
const createTeller =
  (
    { sink, onSecond }: CollectorOptions,
    totals: Pick<ReturnType<typeof createTotals>, "add">,
    stop: (reason: string) => void,
  ) =>
  (second: ClosedSecond, startedAtMs: number): void => {
    totals.add(second);
    const { line, histograms } = second;
    sink.latency(logLines(startedAtMs, line.second, histograms));
    sink.second(line);
    const reason = onSecond?.(second);
    const failure = sink.failure();
    if (failure !== undefined) stop(`the record could not be written: ${failure}`);
    else if (reason !== undefined) stop(reason);
  };

const proofOf = (rule: (typeof issuedRules)[Issued], { what, atMs, beforeMs }: Duplicate) => {
  const at = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  return {
    kind: "breach" as const,
    rule,
    expected: issuedOnce[what === "code" ? "code" : "token"],
    actual: `the ${issuedNames[what as Issued]} issued ${at(atMs)} after the start of the load had been issued at ${at(beforeMs)} already`,
    exchanges: [],
    secrets: [],
  };
};

interface ScriptLog {
  readonly troubles: readonly string[];
  /**
   * Iterations in which the script threw an exception, and the first of them: bugs of the script, not of the service.
   */
  readonly exceptions: { readonly count: number; readonly first: readonly string[] };
}

/** Only a script's first errors are useful. */
const MOST_TROUBLES = 20;
const MOST_EXCEPTIONS = 5;

/** Writes k6's log to the record, masked; `onMessage` gets what scripts tell besides their troubles. */
const createScriptLog = (
  mask: (text: string) => string,
  sink: Pick<LoadSink, "log">,
  onMessage: (message: Exclude<ScriptMessage, { kind: "trouble" }>) => void,
) => {
  const troubles: string[] = [];
  const exceptions: { count: number; readonly first: string[] } = { count: 0, first: [] };
  const take = (line: LogLine): void => {
    if (line.kind === "words") return sink.log(`${line.level}: ${mask(line.text)}`);
    if (line.kind === "exception") {
      exceptions.count += 1;
      if (exceptions.count > MOST_EXCEPTIONS) return;
      exceptions.first.push(mask(line.text));
      return sink.log(`exception: ${mask(line.text)}`);
    }
    const { message } = line;
    if (message.kind !== "trouble") onMessage(message);
    else if (troubles.length < MOST_TROUBLES && !troubles.includes(message.what))
      troubles.push(mask(message.what));
  };
  return { take, log: { troubles, exceptions } satisfies ScriptLog };
};
