import Type, { Optional, type Static } from "typebox";
import { integer, list, number, text } from "./schema.ts";

/*
 * A load from many machines. Each of them plays one segment of the load and leaves a record with
 * `segment` in it; one merge makes a single run of all, with `merged` in its record.
 */

/** Where digests of issued credentials lie in a segment's record, so that one issued twice on two machines is found. */
export const digestFile = (partition: number): string => `digests/${String(partition).padStart(2, "0")}.bin`;
/** A digest lies in the file that its first six bits name. */
export const digestPartitions = 64;

const ClockReading = Type.Object({
  offsetMs: Optional(number("The target's clock less this machine's; absent where it is unknown.")),
  errorMs: Optional(number("The offset is off by no more.", { minimum: 0 })),
  looks: integer("Answers with a Date that it rests on.", { minimum: 0 }),
  unknown: Optional(text("Why the offset is unknown.")),
});
/** How a machine's clock stands to the target's, by the Date of its answers. */
export type ClockReading = Static<typeof ClockReading>;

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
export type Segment = Static<typeof Segment>;

const MergedMachine = Type.Object({
  index: Type.Integer({ minimum: 1 }),
  record: Optional(text("Where its record lay; absent where there was none.")),
  host: Optional(Type.String()),
  machine: Optional(Type.String()),
  arrivals: Optional(Type.Integer({ minimum: 0 })),
  arrivalsAsked: Optional(Type.Number()),
  requests: Optional(Type.Integer({ minimum: 0 })),
  lagP99Ms: Optional(Type.Number({ minimum: 0 })),
  setUpMs: Optional(Type.Number({ minimum: 0 })),
  beganMs: Optional(number("After the start that was asked for, by the target's clock.")),
  beganErrorMs: Optional(Type.Number({ minimum: 0 })),
  clockOffsetMs: Optional(Type.Number()),
  driftMs: Optional(number("Between the readings before and after.", { minimum: 0 })),
  problems: list("Why it makes the whole run invalid.", Type.String()),
});
export type MergedMachine = Static<typeof MergedMachine>;

export const Merged = Type.Object({
  runId: Type.String(),
  count: Type.Integer({ minimum: 2 }),
  startAt: Type.String({ format: "date-time" }),
  skewMs: Optional(number("Between the first and the last machine to begin.", { minimum: 0 })),
  skewErrorMs: Optional(Type.Number({ minimum: 0 })),
  worst: Optional(integer("The machine that kept its schedule least well.", { minimum: 1 })),
  machines: Type.Array(MergedMachine),
});
export type Merged = Static<typeof Merged>;
