export { UnreadableRun } from "./problem.ts";
export { runsIn } from "./folder.ts";
export { readGateRun, readRun, type GateRun, type LoadRun, type Run } from "./run.ts";
export { schemaNames, schemaOf } from "./schemas.ts";
export { verify, type Verification } from "./verify.ts";
