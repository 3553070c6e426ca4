export { runnerClock } from "./clock.ts";
export { findK6, k6Status, type FoundK6 } from "./k6/find.ts";
export { checkPlan } from "./check-plan.ts";
export type { LoadContext, LoadPlan } from "./context.ts";
export { loadByShape, type AskedRun } from "./by-shape.ts";
export { parseAsked } from "./asked-run.ts";
export { parseBlock, playDuet } from "./duet.ts";
export { startTarget } from "./start-target.ts";
