import type { LoadView } from "../gather/view.ts";
import type { Place } from "./run.ts";

/** A load run as far as it was read: what took place over time only where its samples were. */
export type LoadSubject = Pick<LoadView, "run" | "record"> & Partial<Pick<LoadView, "course" | "breaches">>;

export interface LoadOptions extends Place {
  /** `brief` leaves out what the rules say and how the load was made. */
  readonly detail: "brief" | "full";
}
