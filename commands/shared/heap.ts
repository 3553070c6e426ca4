import v8 from "node:v8";

/** Limit of the young generation in bytes. By default it grows to 64 MiB, which in a run is mostly garbage. */
const YOUNG_BYTES = 16 * 1_048_576;
/** How much live data may grow before the engine collects the old generation. */
const OLD_GROWTH_PERCENT = 50;

/**
 * Keeps the engine's heap close to the live data, from before a command is loaded on: to shrink it once it has grown takes
 * a gate a fifteenth of its processor time. A run makes much garbage that lives for one exchange, and by default the engine
 * lets the heap grow to several times the live data; on a small CI machine the service needs that memory.
 */
export const keepHeapSmall = (): void => {
  v8.setFlagsFromString(`--heap-growing-percent=${OLD_GROWTH_PERCENT}`);
  growYoung();
  v8.setFlagsFromString("--semi-space-growth-factor=1");
};

/** The engine grows the young generation only if more survives than fits into it. */
const growYoung = (): void => {
  // Copies, because building each from scratch takes three times as long.
  const one = Array.from({ length: 1_024 }, () => 0);
  const survivors: object[] = [];
  while (youngBytes() < YOUNG_BYTES && survivors.length < MOST_SURVIVORS) survivors.push([...one]);
};

/** Far more than needed. */
const MOST_SURVIVORS = 10_000;

const youngBytes = (): number =>
  v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? YOUNG_BYTES;
