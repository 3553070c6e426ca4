import type { GateView } from "../gather/view.ts";
import type { Place } from "./run.ts";

/** A gate run as far as it was read: evidence of rules that were not broken only if its files were read. */
export type GateSubject = Pick<GateView, "run" | "record"> &
  Partial<Pick<GateView, "evidence" | "pushes" | "pinned">>;

export interface GateOptions extends Place {
  /** `failures`: only what is broken; `brief`: plus a short account of the rest; `full`: all measurements. */
  readonly detail: "failures" | "brief" | "full";
}
