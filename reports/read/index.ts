export { latencyIn } from "./latency-log.ts";
export { runsIn } from "./folder.ts";
export type { GateRun, LoadRun, Run } from "./opened.ts";
export { readGateRun, readRun } from "./run.ts";
export { schemaNames, schemaOf } from "./schemas.ts";
export { verify, type Verification } from "./verify.ts";
