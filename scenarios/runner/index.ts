export { runnerClock } from "./clock.ts";
export { findK6, k6Status, type FoundK6 } from "./k6/find.ts";
export { load, type LoadContext, type LoadPlan, type LoadTarget } from "./load.ts";
export { loadByShape, type AskedRun } from "./by-shape.ts";
export { parseAsked } from "./asked-run.ts";
export { playDuet, type PlayedDuet } from "./duet.ts";
