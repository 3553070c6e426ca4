import { parseDuration } from "./duration.ts";

export const scenarioNames = ["token", "notifications", "mixed", "push"] as const;
export type ScenarioName = (typeof scenarioNames)[number];
/** A duet compares answers; answers to events say nothing about pushes. */
export const duetScenarioNames = scenarioNames.filter((name) => name !== "push");

export const shapeNames = ["constant", "ramp", "spike", "soak", "breakpoint"] as const;
export type FixedShapeName = (typeof shapeNames)[number];

/** The end of a stage: the time since the end of the previous one, and the rate in requests per second. */
export interface StageEnd {
  readonly afterMs: number;
  readonly rate: number;
}

/** Parses a stage such as 30s:100; undefined if it is not one. */
export const parseStage = (text: string): StageEnd | undefined => {
  const [, length = "", rate = ""] = /^([^:]+):(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  const afterMs = parseDuration(length);
  return afterMs === undefined || afterMs <= 0 ? undefined : { afterMs, rate: Number(rate) };
};
