import v8 from "node:v8";
import { runInNewContext } from "node:vm";

const ROOMY_BYTES = 72 * 1_048_576;

/**
 * Returns what collects garbage once the heap is larger than a run's own needs. A run makes much garbage that
 * lives for one exchange, and the engine would rather let the heap grow to several times what is alive; on a
 * small CI machine the service wants that memory. To be called a few times a second; mostly it does nothing.
 */
export const heapTrimmer = (): (() => void) => {
  v8.setFlagsFromString("--expose-gc");
  v8.setFlagsFromString("--semi-space-growth-factor=1");
  const collect = runInNewContext("gc") as () => void;
  return trimming(() => process.memoryUsage().heapUsed, collect);
};

/** What is alive may grow by this factor until garbage is collected again. */
const GROWTH = 1.4;

/**
 * Collects once the heap has outgrown what was alive after the last time, and never while it is small: where
 * much is alive, collecting at every look would take all of the time and bring nothing.
 */
export const trimming = (heapUsed: () => number, collect: () => void): (() => void) => {
  let limit = ROOMY_BYTES;
  return () => {
    if (heapUsed() <= limit) return;
    collect();
    limit = Math.max(ROOMY_BYTES, heapUsed() * GROWTH);
  };
};
