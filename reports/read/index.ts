export type { GateRun, LoadRun, RecordedGate, RecordedLoad, RecordedRun, Run } from "./run.ts";
export { readGateRun, readRun, runsBelow } from "./run.ts";
export { schemaOf } from "./schemas.ts";
