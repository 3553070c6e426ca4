import { createHmac } from "node:crypto";
import type { Stage } from "../stages.ts";
import type { ScriptSegment } from "../protocol.ts";

/** One part of a load that several machines play concurrently. */
export interface SegmentPlan extends ScriptSegment {
  /** The same for all segments of a run, and for no other run. */
  readonly runId: string;
}

/** The stages of one of `count` segments; k6 gives each the same share. */
export const shareOf = (stages: readonly Stage[], segment: ScriptSegment | undefined): readonly Stage[] =>
  segment === undefined
    ? stages
    : stages.map(({ fromRate, toRate, ...stage }) => ({
        ...stage,
        fromRate: fromRate / segment.count,
        toRate: toRate / segment.count,
      }));

/**
 * k6's flags for a segment. With the whole sequence, segments deal out iterations one by one, so that none is lost or
 * played twice.
 */
export const segmentFlags = ({ index, count }: ScriptSegment): readonly string[] => {
  const bound = (at: number): string => (at === 0 || at === count ? String(at / count) : `${at}/${count}`);
  const sequence = Array.from({ length: count + 1 }, (_, at) => bound(at));
  return [
    `--execution-segment=${bound(index - 1)}:${bound(index)}`,
    `--execution-segment-sequence=${sequence.join(",")}`,
  ];
};

/**
 * The key of the digests that a merge compares: the same in all segments, and only known with the clients' secrets. It
 * also generates accounts, so it must differ between two tries of one run id: they begin at different moments, and the
 * second must not find what the first wrote.
 */
export const digestKeyOf = (
  { runId, startAtMs }: Pick<SegmentPlan, "runId" | "startAtMs">,
  secrets: readonly string[],
): string =>
  createHmac("sha256", secrets.join("\n"))
    .update(`touchstone segments of ${runId} from ${startAtMs}`)
    .digest("hex");

/** A seed that all segments of a run derive independently. */
export const seedOf = (runId: string): number =>
  createHmac("sha256", "touchstone seed").update(runId).digest().readUInt32BE() >>> 1;
