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

/** What could not be checked, or need not be. */
export const skipped = (check: string, message: string, remedy: string): Check => ({
  check,
  ok: "skipped",
  message,
  remedy,
});

/** A mistake in the profile that makes a run pointless. */
export const mistaken = (check: string, message: string, remedy: string): Check => ({
  check,
  ok: false,
  message,
  remedy,
  fatal: "configuration",
});
