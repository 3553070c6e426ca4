import { spawn, type ChildProcess } from "node:child_process";
import os from "node:os";

/** From this load average on, other work is noise enough. */
const LOOPS_BELOW = Number(process.env["TOUCHSTONE_NOISE_LOOPS_BELOW"] ?? "Infinity");

/** Ends soon after the bench, however that ends. */
const LOOP = "const { ppid } = process; for (let n = 1; n % 1e7 > 0 || process.ppid === ppid; n += 1);";

const busy = { asked: [] as number[], loops: [] as ChildProcess[] };

/** As many processes that only use CPU as the running work with the most of them requires. */
const keepBusy = (): void => {
  const [load = 0] = os.loadavg();
  const wanted = load < LOOPS_BELOW ? Math.max(0, ...busy.asked) : 0;
  while (busy.loops.length < wanted)
    busy.loops.push(spawn(process.execPath, ["-e", LOOP], { stdio: "ignore" }));
  while (busy.loops.length > wanted) busy.loops.pop()?.kill();
};

/**
 * Does the work beside at least this many busy loops, unless the machine is busy already; the work is told how many there
 * are once it begins.
 */
export const besideLoops = async <T>(asked: number, work: (loops: number) => Promise<T>): Promise<T> => {
  busy.asked.push(asked);
  keepBusy();
  try {
    return await work(busy.loops.length);
  } finally {
    busy.asked.splice(busy.asked.indexOf(asked), 1);
    keepBusy();
  }
};
