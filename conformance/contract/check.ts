/** One check of the preflight, for `doctor` and for the first lines of a run that cannot begin. */
export interface Check {
  /** What was looked at: "base address", "client 1", "hooks.clock.advance". */
  readonly check: string;
  readonly ok: boolean | "skipped";
  readonly message: string;
  /** What to do about it, where something is to be done. */
  readonly remedy?: string;
  /** Whether a run makes no sense with this. */
  readonly fatal?: "configuration" | "unreachable";
}
