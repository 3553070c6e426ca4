export { runnerClock } from "./clock.ts";
export { findK6, k6Status, type FoundK6 } from "./k6/find.ts";
export { checkPlan, type LoadContext, type LoadPlan } from "./load.ts";
export { loadByShape, type AskedRun } from "./by-shape.ts";
export { parseAsked } from "./asked-run.ts";
export { parseBlock, playDuet } from "./duet.ts";
export { startTarget } from "./start-target.ts";
