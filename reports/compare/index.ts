export { baselineOf } from "./baseline.ts";
export { compareRuns, type Comparison, type ComparisonVerdict } from "./compare.ts";
export { fingerprintOf, targetNameOf } from "./fingerprint.ts";
