/** The smallest change of a latency that matters between runs: as a share of it, and in milliseconds. */
export const latencyFloors = { p50: 0.05, p95: 0.1, p99: 0.1 } as const;
export const latencyFloorMs = 1;

const floors: Readonly<Record<string, number>> = { ...latencyFloors, "requests per second": 0.05 };

/** The same as a ratio, for a metric that is usually at this value (latencies in milliseconds). */
export const leastRatio = (metric: string, usual: number): number =>
  1 + Math.max(floors[metric] ?? 0, metric in latencyFloors ? latencyFloorMs / usual : 0);
