import Type, { type Static } from "typebox";

/*
 * A load from many machines. Each of them plays one segment of the load and leaves a record with
 * `segment` in it; one merge makes a single run of all, with `merged` in its record.
 */

/** Where digests of issued credentials lie in a segment's record, so that one issued twice on two machines is found. */
export const digestFolder = "digests";
/** A digest lies in the file that its first six bits name. */
export const digestPartitions = 64;
export const digestFile = (partition: number): string =>
  `${digestFolder}/${String(partition).padStart(2, "0")}.bin`;

const ClockReading = Type.Object({
  offsetMs: Type.Optional(
    Type.Number({ description: "The target's clock less this machine's; absent where it is unknown." }),
  ),
  errorMs: Type.Optional(Type.Number({ minimum: 0, description: "The offset is off by no more." })),
  looks: Type.Integer({ minimum: 0, description: "Answers with a Date that it rests on." }),
  unknown: Type.Optional(Type.String({ description: "Why the offset is unknown." })),
});
/** How a machine's clock stands to the target's, by the Date of its answers. */
export type ClockReading = Static<typeof ClockReading>;

export const Segment = Type.Object({
  runId: Type.String(),
  index: Type.Integer({ minimum: 1 }),
  count: Type.Integer({ minimum: 2 }),
  startAt: Type.String({ format: "date-time", description: "When all segments were to begin." }),
  beganAtMs: Type.Optional(
    Type.Number({ description: "When the load began, in milliseconds since 1970 by this machine's clock." }),
  ),
  setUpMs: Type.Optional(Type.Number({ minimum: 0, description: "How long k6's set-up took." })),
  lateMs: Type.Optional(Type.Number({ description: "How much set-up outlasted the start." })),
  host: Type.String(),
  clock: Type.Object({ before: Type.Optional(ClockReading), after: Type.Optional(ClockReading) }),
  objectives: Type.Optional(
    Type.Unknown({ description: "`slos` of the profile, which the merge judges by." }),
  ),
  lag: Type.Optional(
    Type.String({
      description: "How late iterations began, warm-up excluded: an HDR histogram (version 2 encoding).",
    }),
  ),
});
export type Segment = Static<typeof Segment>;

const MergedMachine = Type.Object({
  index: Type.Integer({ minimum: 1 }),
  record: Type.Optional(Type.String({ description: "Where its record lay; absent where there was none." })),
  host: Type.Optional(Type.String()),
  machine: Type.Optional(Type.String()),
  arrivals: Type.Optional(Type.Integer({ minimum: 0 })),
  arrivalsAsked: Type.Optional(Type.Number()),
  requests: Type.Optional(Type.Integer({ minimum: 0 })),
  lagP99Ms: Type.Optional(Type.Number({ minimum: 0 })),
  setUpMs: Type.Optional(Type.Number({ minimum: 0 })),
  beganMs: Type.Optional(
    Type.Number({ description: "After the start that was asked for, by the target's clock." }),
  ),
  beganErrorMs: Type.Optional(Type.Number({ minimum: 0 })),
  clockOffsetMs: Type.Optional(Type.Number()),
  driftMs: Type.Optional(Type.Number({ minimum: 0, description: "Between the readings before and after." })),
  problems: Type.Array(Type.String(), { description: "Why it makes the whole run invalid." }),
});
export type MergedMachine = Static<typeof MergedMachine>;

export const Merged = Type.Object({
  runId: Type.String(),
  count: Type.Integer({ minimum: 2 }),
  startAt: Type.String({ format: "date-time" }),
  skewMs: Type.Optional(
    Type.Number({ minimum: 0, description: "Between the first and the last machine to begin." }),
  ),
  skewErrorMs: Type.Optional(Type.Number({ minimum: 0 })),
  worst: Type.Optional(
    Type.Integer({ minimum: 1, description: "The machine that kept its schedule least well." }),
  ),
  machines: Type.Array(MergedMachine),
});
export type Merged = Static<typeof Merged>;
