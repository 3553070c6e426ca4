/** The smallest change that matters between runs, as a share and for latencies in milliseconds. */
const floors: Readonly<Record<string, number>> = {
  p50: 0.05,
  p95: 0.1,
  p99: 0.1,
  "requests per second": 0.05,
};
const FLOOR_MS = 1;

/** The same as a ratio, for a metric that is usually at this value (latencies in milliseconds). */
export const leastRatio = (metric: string, usual: number): number =>
  1 + Math.max(floors[metric] ?? 0, metric.startsWith("p") ? FLOOR_MS / usual : 0);
