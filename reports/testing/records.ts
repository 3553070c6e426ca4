export { writeGateRun, type GateRunSpec } from "./gate-run.ts";
export { writeLoadRun, type LoadRunSpec } from "./load-run.ts";
