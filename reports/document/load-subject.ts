import type { LoadView } from "../gather/view.ts";
import type { Place } from "./run.ts";

/** A load run as far as it was read: its course over time only if its samples were read. */
export type LoadSubject = Pick<LoadView, "run" | "record"> & Partial<Pick<LoadView, "course" | "breaches">>;

export interface LoadOptions extends Place {
  /** `brief` leaves out the sentences of rules and how the load was made. */
  readonly detail: "brief" | "full";
}
