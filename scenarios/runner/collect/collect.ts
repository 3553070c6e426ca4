import { mkdtempSync } from "node:fs";
import {
  histogramTag,
  type Latencies,
  type LoadBreach,
  type LoadRule,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import { issuedRules, type Issued } from "../../protocol.ts";
import type { K6End } from "../k6/exit.ts";
import type { LogLine } from "../k6/log.ts";
import { startK6, type RunningK6, type StartOptions } from "../k6/start.ts";
import type { LoadSink } from "../record.ts";
import { temporaryBase } from "../temporary.ts";
import { createBreaches, maskOf } from "./breaches.ts";
import { logHead, logLine } from "./histograms.ts";
import { createReadings, type Reading } from "./readings.ts";
import { createRowReader, type RowSink } from "./rows.ts";
import { createSeconds, type ClosedSecond } from "./seconds.ts";
import { createTotals, type Totals } from "./totals.ts";
import { createUniqueness, type Duplicate } from "./unique.ts";

/** A second of a load run as it closes. */
export interface LoadSecond {
  readonly line: SecondLine;
  /** Of the granted requests of all endpoints together. */
  readonly latencies: Latencies | undefined;
}

export interface LoadOptions extends Omit<StartOptions, "onSamples" | "onLog"> {
  readonly sink: LoadSink;
  /** The first stretch of the load, which percentiles leave out. */
  readonly warmUpMs: number;
  /** Told each second; a reason in answer ends the load. */
  readonly onSecond?: (second: LoadSecond) => string | undefined;
  /** An event was triggered and acknowledged. Moments are wall-clock milliseconds. */
  readonly onEvent?: (sentAtMs: number, notification: string | undefined) => void;
  /** What nobody may see besides the clients' secrets. */
  readonly hidden?: readonly string[];
  /** Ends the load: k6 lets go of its iterations, and what was measured is kept. */
  readonly signal?: AbortSignal | undefined;
}

export interface LoadResult extends Totals {
  /** When the load began, wall-clock milliseconds; undefined where it never did. */
  readonly startedAtMs: number | undefined;
  readonly end: K6End;
  /** Why the load ended before its time; absent where it did not. */
  readonly stopped?: string;
  readonly rules: readonly LoadRule[];
  /** The first of each rule, masked. */
  readonly breaches: readonly LoadBreach[];
  /** What the script could not work with. */
  readonly troubles: readonly string[];
  /** Iterations in which the script threw an exception, and the first of them: mistakes of the script, not of the service. */
  readonly exceptions: { readonly count: number; readonly first: readonly string[] };
  /** Environment variables of the user's that k6 did not get. */
  readonly ignored: readonly string[];
  readonly notes: readonly string[];
}

/** Only so much of what a script complains about is of use. */
const MOST_TROUBLES = 20;
const MOST_EXCEPTIONS = 5;

/**
 * Runs k6 on a script and takes in what it tells, second by second, into the sink. Resolves when
 * k6 has ended, however it did, with what the run came to. Throws K6Failed where k6 cannot be
 * started or its samples cannot be read.
 */
export const runLoad = async (options: LoadOptions): Promise<LoadResult> => {
  const { sink, settings, warmUpMs, clock, signal, onSecond, onEvent } = options;
  const { stages } = settings;
  const clientSecrets = [...settings.clients.map(({ secret }) => secret), ...(options.hidden ?? [])];
  const breaches = createBreaches(stages, clientSecrets);
  const totals = createTotals(stages, warmUpMs);
  const uniqueness = createUniqueness({
    folder: mkdtempSync(temporaryBase("digests")),
  });
  const mask = maskOf(clientSecrets, [settings.digestKey]);
  const troubles: string[] = [];
  const exceptions: { count: number; readonly first: string[] } = { count: 0, first: [] };
  let k6: RunningK6 | undefined;
  let stopped: string | undefined;
  let readings: (() => Reading) | undefined;
  let hasHead = false;

  const stop = (reason: string): void => {
    if (stopped !== undefined) return;
    stopped = reason;
    k6?.stop();
  };

  const closed = (second: ClosedSecond): void => {
    if (!hasHead) sink.latency(logHead(seconds.startedAtMs() ?? 0));
    hasHead = true;
    sink.latency(linesOf(second));
    sink.second(second.line);
    totals.add(second);
    const failure = sink.failure();
    if (failure !== undefined) stop(`the record could not be written: ${failure}`);
    const reason = onSecond?.({ line: second.line, latencies: second.latencies });
    if (reason !== undefined) stop(reason);
  };

  const seconds = createSeconds(stages, () => readings?.() ?? {}, closed);
  const sinceStart = (atMs: number): number => atMs - (seconds.startedAtMs() ?? atMs);

  const keep = (breach: LoadBreach | undefined): void => {
    if (breach !== undefined) sink.breach(breach);
  };

  const duplicated = (duplicate: Duplicate): void => {
    const rule = issuedRules[duplicate.what as Issued];
    if (rule === undefined) return;
    breaches.count(rule);
    const { atMs, beforeMs } = duplicate;
    const started = seconds.startedAtMs() ?? 0;
    keep(
      breaches.proof({ ...proofOf(rule, duplicate), atEpochMs: started + atMs }, Math.max(beforeMs, atMs)),
    );
  };

  const rows: RowSink = {
    start: seconds.begin,
    request: seconds.request,
    arrival: seconds.arrival,
    dropped: seconds.dropped,
    virtualUsers: seconds.virtualUsers,
    checks: (_, rule, count) => breaches.checked(rule, count),
    breach: (atMs, rule) => {
      seconds.breach(atMs, rule);
      breaches.count(rule);
    },
    issued: (atMs, what, digest) => {
      if (what in issuedRules) breaches.checked(issuedRules[what as Issued], 1);
      const duplicate = uniqueness.add(what, digest, sinceStart(atMs));
      if (duplicate === undefined) return;
      seconds.breach(atMs, issuedRules[what as Issued] ?? what);
      duplicated(duplicate);
    },
    event: (_, sentAtMs, notification) => onEvent?.(sentAtMs, notification),
  };
  const reader = createRowReader(rows);

  const onLog = (line: LogLine): void => {
    if (line.kind === "words") return sink.log(`${line.level}: ${mask(line.text)}`);
    if (line.kind === "exception") {
      exceptions.count += 1;
      if (exceptions.count > MOST_EXCEPTIONS) return;
      exceptions.first.push(mask(line.text));
      return sink.log(`exception: ${mask(line.text)}`);
    }
    const { message } = line;
    if (message.kind === "breach") keep(breaches.proof(message, sinceStart(message.atEpochMs)));
    else if (troubles.length < MOST_TROUBLES && !troubles.includes(message.what))
      troubles.push(mask(message.what));
  };

  const onAbort = (): void => stop("interrupted");
  try {
    signal?.throwIfAborted();
    k6 = await startK6({ ...options, onSamples: reader.push, onLog });
    readings = createReadings(k6.pid, clock);
    signal?.addEventListener("abort", onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    // Something may have gone wrong already while k6 was starting.
    if (stopped !== undefined) k6.stop();
    const end = await k6.ended;
    seconds.finish();
    for (const duplicate of uniqueness.finish()) duplicated(duplicate);
    const note = uniqueness.note();
    for (const rule of new Set(note === undefined ? [] : Object.values(issuedRules)))
      breaches.note(rule, note ?? "");
    const early = stopped ?? (end.says === "finished" ? undefined : `k6 ${end.meaning}`);
    return {
      ...totals.summary(seconds.elapsedMs(), early === undefined),
      startedAtMs: seconds.startedAtMs(),
      end,
      ...(early === undefined ? {} : { stopped: early }),
      rules: breaches.rules(),
      breaches: breaches.kept(),
      troubles,
      exceptions,
      ignored: k6.ignored,
      notes: [
        ...(k6.ignored.length === 0 ? [] : [`k6 did not get ${k6.ignored.join(", ")}`]),
        ...(reader.unreadable() === 0
          ? []
          : [`${reader.unreadable()} rows of k6's samples could not be read`]),
      ],
    };
  } catch (error) {
    // What was measured up to here stays in the record.
    seconds.finish();
    throw error;
  } finally {
    signal?.removeEventListener("abort", onAbort);
    uniqueness.remove();
  }
};

const linesOf = ({ line, histograms }: ClosedSecond): string =>
  histograms
    .map(({ endpoint, outcome, kind, histogram }) =>
      logLine(histogramTag(endpoint, outcome, kind), line.second, histogram),
    )
    .join("");

const names: Readonly<Record<Issued, string>> = {
  code: "code",
  accessToken: "access token",
  refreshToken: "refresh token",
};

const proofOf = (rule: (typeof issuedRules)[Issued], { what, atMs, beforeMs }: Duplicate) => {
  const name = names[what as Issued];
  const at = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  return {
    kind: "breach" as const,
    rule,
    expected: `no ${name} is issued twice`,
    actual: `the ${name} issued ${at(atMs)} after the start of the load had been issued at ${at(beforeMs)} already`,
    exchanges: [],
    secrets: [],
  };
};
