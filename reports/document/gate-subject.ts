import type { GateView } from "../gather/view.ts";
import type { Place } from "./run.ts";

/** A run of the gate as far as it was read: evidence of rules that were not broken only where its files were. */
export type GateSubject = Pick<GateView, "run" | "record"> &
  Partial<Pick<GateView, "evidence" | "pushes" | "pinned">>;

export interface GateOptions extends Place {
  /** `failures` has what is broken alone; `brief` a short account of the rest; `full` all that was measured. */
  readonly detail: "failures" | "brief" | "full";
}
