export type { CheckedRun, GateRun, LoadRun, RecordedGate, RecordedLoad, RecordedRun, Run } from "./opened.ts";
export { readGateRun, readRun, runsBelow } from "./run.ts";
export { schemaOf } from "./schemas.ts";
export { verify, type Verification } from "./verify.ts";
