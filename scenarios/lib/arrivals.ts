import { intendedStartMs, type Stage } from "../stages.ts";
import type { ScriptSettings } from "../protocol.ts";

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
