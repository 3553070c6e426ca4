export { compareRuns } from "./compare.ts";
export type { Comparison, ComparisonVerdict } from "./shape.ts";
export { baselineOf, fingerprintOf, targetNameOf } from "./fingerprint.ts";
