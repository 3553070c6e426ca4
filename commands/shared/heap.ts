import v8 from "node:v8";
import { runInNewContext } from "node:vm";

/** What the young generation may hold, in bytes. Left alone it grows to 64 MiB, in which most of a run is garbage. */
const YOUNG_BYTES = 16 * 1_048_576;
/** By how much what is alive may grow until the engine looks for garbage in the old generation. */
const OLD_GROWTH_PERCENT = 50;

/**
 * Makes the engine keep its heap near what is alive, once a command is loaded. A run makes much garbage that lives for
 * one exchange, and the engine would rather let the heap grow to several times what is alive; on a small CI machine the
 * service wants that memory.
 */
export const keepHeapSmall = (): void => {
  v8.setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as (options: object) => void;
  // Only this shrinks the young generation, which has grown while modules were loaded.
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
  v8.setFlagsFromString(`--heap-growing-percent=${OLD_GROWTH_PERCENT}`);
  growYoung();
  v8.setFlagsFromString("--semi-space-growth-factor=1");
};

/** The engine lets the young generation grow only where more survives than fits into it. */
const growYoung = (): void => {
  // Copies: making each anew takes three times as long.
  const one = Array.from({ length: 1_024 }, () => 0);
  const survivors: object[] = [];
  while (youngBytes() < YOUNG_BYTES && survivors.length < MOST_SURVIVORS) survivors.push([...one]);
};

/** Far more than it takes. */
const MOST_SURVIVORS = 10_000;

const youngBytes = (): number =>
  v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")?.space_size ?? YOUNG_BYTES;
