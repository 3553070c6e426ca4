import type { LoadBreach } from "../../../conformance/contract/load-record.ts";
import { askedRateAt, type Stage } from "../../stages.ts";
import { digestPartitions } from "../../../conformance/contract/segments.ts";
import { issuedOnce } from "../../../conformance/judging/laws/tokens.ts";
import { issuedNames, issuedRules } from "../../protocol.ts";
import { crossDuplicates, type CrossDuplicate } from "../digests.ts";
import { begunOf, type Begun, type SegmentRun } from "./machines.ts";

const KEPT_PER_RULE = 20;

export interface FoundDuplicates {
  readonly byRule: Readonly<Record<string, number>>;
  readonly bySecond: ReadonlyMap<number, Readonly<Record<string, number>>>;
  /** The first breach of each rule. */
  readonly breaches: readonly LoadBreach[];
}

/**
 * Finds credentials issued on several machines. Holds one partition at a time, so that memory does not grow with the
 * run.
 */
export const duplicatesAcross = async (
  segments: readonly SegmentRun[],
  stages: readonly Stage[],
): Promise<FoundDuplicates> => {
  const begun = new Map(segments.map((run) => [run.segment.index, begunOf(run)]));
  const byRule: Record<string, number> = {};
  const bySecond = new Map<number, Record<string, number>>();
  const breaches: LoadBreach[] = [];
  const note = (duplicate: CrossDuplicate): void => {
    const rule = issuedRules[duplicate.what];
    byRule[rule] = (byRule[rule] ?? 0) + 1;
    const breach = breachOf(duplicate, begun, stages);
    const second = Math.max(0, Math.floor(breach.atMs / 1_000));
    const here = bySecond.get(second) ?? {};
    here[rule] = (here[rule] ?? 0) + 1;
    bySecond.set(second, here);
    if ((byRule[rule] ?? 0) <= KEPT_PER_RULE) breaches.push(breach);
  };
  let table: Int32Array | undefined;
  for (let partition = 0; partition < digestPartitions; partition += 1) {
    const held = [];
    for (const run of segments)
      held.push({ segment: run.segment.index, bytes: await run.digests(partition) });
    table = crossDuplicates(held, note, table);
  }
  return { byRule, bySecond, breaches };
};

/** The corrected clocks say which came first, with their error. */
const breachOf = (
  { what, first, second }: CrossDuplicate,
  begun: ReadonlyMap<number, Begun | undefined>,
  stages: readonly Stage[],
): LoadBreach => {
  const place = ({ segment, atMs }: CrossDuplicate["first"]) => {
    const { ms = 0, errorMs } = begun.get(segment) ?? {};
    return { segment, atMs: atMs + ms, errorMs };
  };
  const [one, other] = [place(first), place(second)];
  const [before, after] = one.atMs <= other.atMs ? [one, other] : [other, one];
  const at = (ms: number): string => `${(ms / 1_000).toFixed(3)} s`;
  const error =
    before.errorMs === undefined || after.errorMs === undefined
      ? "between clocks that are not known"
      : `± ${Math.ceil(before.errorMs + after.errorMs)} ms between their clocks`;
  return {
    rule: issuedRules[what],
    atMs: after.atMs,
    segment: after.segment,
    expected: issuedOnce[what === "code" ? "code" : "token"],
    actual: `the ${issuedNames[what]} issued ${at(after.atMs)} after the start of the load on the machine of segment ${after.segment} had already been issued at ${at(before.atMs)} on that of segment ${before.segment} (${error})`,
    askedRate: askedRateAt(stages, after.atMs),
    exchanges: [],
  };
};
