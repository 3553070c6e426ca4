import { readRun } from "../reports/read/index.ts";
import { reportFormats } from "../reports/formats.ts";
import { writeReports } from "../reports/write.ts";

/**
 * `node render.ts OUT RUN...`: writes all reports of the runs in its own process; prints its peak memory in bytes and
 * its CPU time in milliseconds.
 */
const [out = "", ...directories] = process.argv.slice(2);
const runs = [];
for (const directory of directories) runs.push(await readRun(directory));
await writeReports(runs, { formats: reportFormats, out, program: "touchstone" });
const { user, system } = process.cpuUsage();
process.stdout.write(
  JSON.stringify({ peakBytes: process.resourceUsage().maxRSS * 1_024, cpuMs: (user + system) / 1_000 }),
);
