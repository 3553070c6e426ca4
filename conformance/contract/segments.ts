import Type, { Optional } from "typebox";
import { type Frozen, integer, list, number, text } from "./schema.ts";

/*
 * A load from many machines. Each plays one segment of the load and leaves a record with `segment` in it; one merge
 * turns these into a single run, with `merged` in its record.
 */

/** Where a segment's record keeps digests of issued credentials, which show if two machines were issued the same one. */
export const digestFile = (partition: number): string => `digests/${String(partition).padStart(2, "0")}.bin`;
/** A digest's first six bits select its file. */
export const digestPartitions = 64;

const ClockReading = Type.Object({
  offsetMs: Optional(number("The target's clock minus this machine's; absent if unknown.")),
  errorMs: Optional(number("Largest error of the offset.", { minimum: 0 })),
  looks: integer("Number of answers with a Date that it is based on.", { minimum: 0 }),
  unknown: Optional(text("Why the offset is unknown.")),
});
/** How a machine's clock differs from the target's, by the Date of its answers. */
export type ClockReading = Frozen<typeof ClockReading>;

export const Segment = Type.Object({
  runId: Type.String(),
  index: Type.Integer({ minimum: 1 }),
  count: Type.Integer({ minimum: 2 }),
  startAt: text("When all segments were to begin.", { format: "date-time" }),
  beganAtMs: Optional(number("When the load began, in milliseconds since 1970 by this machine's clock.")),
  setUpMs: Optional(number("How long k6's set-up took.", { minimum: 0 })),
  lateMs: Optional(number("How much set-up outlasted the start.")),
  host: Type.String(),
  clock: Type.Object({ before: Optional(ClockReading), after: Optional(ClockReading) }),
  objectives: Optional(Type.Unknown({ description: "`slos` of the profile, which the merge judges by." })),
  lag: Optional(text("How late iterations began, warm-up excluded: an HDR histogram (version 2 encoding).")),
});
export type Segment = Frozen<typeof Segment>;

const MergedMachine = Type.Object({
  index: Type.Integer({ minimum: 1 }),
  record: Optional(text("Where its record was; absent if there was none.")),
  host: Optional(Type.String()),
  machine: Optional(Type.String()),
  arrivals: Optional(Type.Integer({ minimum: 0 })),
  arrivalsAsked: Optional(Type.Number()),
  requests: Optional(Type.Integer({ minimum: 0 })),
  lagP99Ms: Optional(Type.Number({ minimum: 0 })),
  setUpMs: Optional(Type.Number({ minimum: 0 })),
  beganMs: Optional(number("After the requested start, by the target's clock.")),
  beganErrorMs: Optional(Type.Number({ minimum: 0 })),
  clockOffsetMs: Optional(Type.Number()),
  driftMs: Optional(number("Between the readings before and after the load.", { minimum: 0 })),
  problems: list("Why it makes the whole run invalid.", Type.String()),
});
export type MergedMachine = Frozen<typeof MergedMachine>;

export const Merged = Type.Object({
  runId: Type.String(),
  count: Type.Integer({ minimum: 2 }),
  startAt: Type.String({ format: "date-time" }),
  skewMs: Optional(number("Between the first and the last machine to start.", { minimum: 0 })),
  skewErrorMs: Optional(Type.Number({ minimum: 0 })),
  machines: Type.Array(MergedMachine),
});
export type Merged = Frozen<typeof Merged>;
