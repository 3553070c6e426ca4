/** One check of the preflight, for `doctor` and for the first lines of a run that cannot start. */
export interface Check {
  /** What was checked: "base address", "client 1", "hooks.clock.advance". */
  readonly check: string;
  readonly ok: boolean | "skipped";
  readonly message: string;
  /** What to do about it, if anything. */
  readonly remedy?: string;
  /** Whether it makes a run pointless. */
  readonly fatal?: "configuration" | "unreachable";
}
