import type { Endpoint, Exchange } from "./exchange.ts";

/** How long the answers of each endpoint took, for a message about slow ones. */
export const createSlowness = () => {
  const took = new Map<Endpoint, { count: number; totalMs: number }>();
  return {
    note: ({ endpoint, durationMs }: Pick<Exchange, "endpoint" | "durationMs">): void => {
      const of = took.get(endpoint) ?? { count: 0, totalMs: 0 };
      took.set(endpoint, of);
      of.count += 1;
      of.totalMs += durationMs;
    },
    /** The mean of each endpoint. */
    text: (): string =>
      [...took]
        .map(([endpoint, { count, totalMs }]) => `${endpoint} ${(totalMs / count / 1_000).toFixed(2)} s`)
        .join(", "),
  };
};
