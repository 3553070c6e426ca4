export { writeGateRun } from "./gate-run.ts";
export { writeLoadRun, type LoadRunSpec } from "./load-run.ts";
