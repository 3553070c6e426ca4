export { baselineOf } from "./fingerprint.ts";
export { compareRuns, type Comparison, type ComparisonVerdict } from "./compare.ts";
export { fingerprintOf, targetNameOf } from "./fingerprint.ts";
