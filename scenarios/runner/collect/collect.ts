import type { K6End } from "../k6/exit.ts";
import { startK6, type RunningK6, type StartOptions } from "../k6/start.ts";
import { createCollector, type Collected, type CollectorOptions } from "./collector.ts";
import { createReadings, type Readings } from "./readings.ts";

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
