import { readRun } from "../read/index.ts";
import { reportFormats } from "../formats.ts";
import { writeReports } from "../write.ts";

/** `node render.ts OUT RUN...`: writes all reports of the runs, in its own process, and prints the peak of its memory in bytes. */
const [out = "", ...directories] = process.argv.slice(2);
const runs = [];
for (const directory of directories) runs.push(await readRun(directory));
await writeReports(runs, { formats: reportFormats, out, program: "touchstone" });
process.stdout.write(String(process.resourceUsage().maxRSS * 1_024));
