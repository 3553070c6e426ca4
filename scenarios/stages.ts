import { parseStage, type FixedShapeName, type StageEnd } from "../conformance/contract/load-shape.ts";
import type { ScriptSettings, Stage } from "./protocol.ts";

/** A stretch of a load shape: from one share of the requested rate to another, over a share of the duration. */
export interface ShapeStretch {
  readonly from: number;
  readonly to: number;
  /** Share of the whole duration; the stretches of a shape add up to 1. */
  readonly share: number;
}

/** Load shapes as data, all of them an open model: arrivals do not wait for answers. */
export const shapes = {
  constant: [{ from: 1, to: 1, share: 1 }],
  ramp: [
    { from: 0, to: 1, share: 0.8 },
    { from: 1, to: 1, share: 0.2 },
  ],
  spike: [
    { from: 0.2, to: 0.2, share: 0.35 },
    { from: 0.2, to: 1, share: 0.05 },
    { from: 1, to: 1, share: 0.2 },
    { from: 1, to: 0.2, share: 0.05 },
    { from: 0.2, to: 0.2, share: 0.35 },
  ],
  soak: [
    { from: 0, to: 1, share: 0.05 },
    { from: 1, to: 1, share: 0.95 },
  ],
  // Ends when an objective gives way.
  breakpoint: [{ from: 0, to: 1, share: 1 }],
} as const satisfies Readonly<Record<FixedShapeName, readonly ShapeStretch[]>>;

/**
 * A custom load profile in k6's notation: "stages 30s:100 1m:500" ramps to 100 requests per second in 30 s, then to 500
 * in a minute.
 */
export type OwnShape = `stages ${string}`;
export type ShapeName = FixedShapeName | OwnShape;

const STAGES = "stages ";

export const ownShapeOf = (texts: readonly string[]): OwnShape => `${STAGES}${texts.join(" ")}`;

export const isOwnShape = (name: string): name is OwnShape => name.startsWith(STAGES);

export const stageEndsOf = (shape: OwnShape): readonly StageEnd[] =>
  shape
    .slice(STAGES.length)
    .split(" ")
    .flatMap((text) => parseStage(text) ?? []);

/** As in k6, each stage starts at the rate where the previous one ended, and the first at zero. */
const stretchesOf = (shape: ShapeName): readonly ShapeStretch[] => {
  if (!isOwnShape(shape)) return shapes[shape];
  const ends = stageEndsOf(shape);
  const wholeMs = ends.reduce((sum, { afterMs }) => sum + afterMs, 0);
  const peak = Math.max(...ends.map(({ rate }) => rate));
  return ends.map(({ afterMs, rate }, at) => ({
    from: (ends[at - 1]?.rate ?? 0) / peak,
    to: rate / peak,
    share: afterMs / wholeMs,
  }));
};

/** The stages of a shape for a peak rate (arrivals per second) and a duration. */
export const stagesOf = (shape: ShapeName, rate: number, durationMs: number): readonly Stage[] => {
  let startMs = 0;
  return stretchesOf(shape).map(({ from, to, share }) => {
    const stage = { startMs, durationMs: share * durationMs, fromRate: from * rate, toRate: to * rate };
    startMs += stage.durationMs;
    return stage;
  });
};

/** The requested rate at a moment; 0 outside the stages. */
export const askedRateAt = (stages: readonly Stage[], atMs: number): number => {
  const stage = stages.find(({ startMs, durationMs }) => atMs >= startMs && atMs < startMs + durationMs);
  if (stage === undefined) return 0;
  return stage.fromRate + ((stage.toRate - stage.fromRate) * (atMs - stage.startMs)) / stage.durationMs;
};

/**
 * Number of arrivals the stages request between two moments: rates change linearly, so the rate in the middle is the
 * mean.
 */
export const askedBetween = (stages: readonly Stage[], fromMs: number, toMs: number): number =>
  stages.reduce((sum, stage) => {
    const from = Math.max(fromMs, stage.startMs);
    const to = Math.min(toMs, stage.startMs + stage.durationMs);
    return to <= from ? sum : sum + (askedRateAt([stage], (from + to) / 2) * (to - from)) / 1_000;
  }, 0);

/** When the last stage ends, in milliseconds since the start of the load. */
export const endOfStages = (stages: readonly Stage[]): number =>
  stages.reduce((end, { startMs, durationMs }) => Math.max(end, startMs + durationMs), 0);

/**
 * When the arrival with this index (from 0) was meant to start, in milliseconds since the start of the load: when the
 * integral of the requested rate reaches the index. The end of the last stage if the stages request fewer.
 */
export const intendedStartMs = (stages: readonly Stage[], index: number): number => {
  let before = 0;
  let endMs = 0;
  for (const stage of stages) {
    // The area under the stage's straight line.
    const here = ((stage.fromRate + stage.toRate) * stage.durationMs) / 2_000;
    endMs = stage.startMs + stage.durationMs;
    if (here > 0 && index < before + here) return stage.startMs + elapsedAt(stage, index - before);
    before += here;
  }
  return endMs;
};

/**
 * The elapsed time at which a stage has had that many arrivals, by the form of the quadratic formula that also holds
 * for a flat stage.
 */
const elapsedAt = (stage: Stage, arrivals: number): number => {
  const slope = (stage.toRate - stage.fromRate) / stage.durationMs;
  const target = arrivals * 1_000;
  const root = Math.sqrt(Math.max(0, stage.fromRate ** 2 + 2 * slope * target));
  return target === 0 ? 0 : (2 * target) / (stage.fromRate + root);
};

/**
 * k6 accepts only integer rates: we use thousandths of an arrival per second, expressed as arrivals per thousand
 * seconds.
 */
const SCALE = 1_000;
const timeUnit = `${SCALE}s`;
const scaled = (rate: number): number => Math.round(rate * SCALE);

const isFlat = (stages: readonly Stage[]): boolean =>
  stages.length === 1 && stages[0]?.fromRate === stages[0]?.toRate;

/** k6's executor for these stages: an open model, in which arrivals do not wait for answers. */
export const executorFor = (
  stages: readonly Stage[],
  users: ScriptSettings["virtualUsers"],
  gracefulStopMs: number,
) => {
  const common = {
    timeUnit,
    preAllocatedVUs: users.allocated,
    maxVUs: users.most,
    gracefulStop: `${gracefulStopMs}ms`,
  };
  const [first] = stages;
  if (first === undefined) throw new Error("a load has at least one stage");
  if (isFlat(stages))
    return {
      executor: "constant-arrival-rate" as const,
      rate: scaled(first.fromRate),
      duration: `${Math.round(first.durationMs)}ms`,
      ...common,
    };
  return {
    executor: "ramping-arrival-rate" as const,
    startRate: scaled(first.fromRate),
    stages: stages.flatMap((stage, index) => [
      ...(stage.fromRate === (stages[index - 1] ?? stage).toRate || index === 0
        ? []
        : [{ duration: "0s", target: scaled(stage.fromRate) }]),
      { duration: `${Math.round(stage.durationMs)}ms`, target: scaled(stage.toRate) },
    ]),
    ...common,
  };
};

/**
 * How late an iteration is, in milliseconds to a tenth, relative to its scheduled start. k6's constant executor starts
 * the first arrival immediately, the ramping one once a whole arrival is due. Iterations that k6 dropped have no
 * number, so after a drop this is too high; the collector, which knows of the drop, corrects it.
 */
export const lagMs = (stages: readonly Stage[], iteration: number, sinceStartMs: number): number => {
  const arrival = isFlat(stages) ? iteration : iteration + 1;
  return Math.max(0, Math.round(10 * (sinceStartMs - intendedStartMs(stages, arrival))) / 10);
};
