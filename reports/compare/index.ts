export { baselineOf } from "./baseline.ts";
export { compareRuns, type Comparison } from "./compare.ts";
export { fingerprintOf, targetNameOf } from "./fingerprint.ts";
export { IncomparableRuns } from "./problem.ts";
