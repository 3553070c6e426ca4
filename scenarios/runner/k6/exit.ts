export interface K6End {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly meaning: string;
  /**
   * What it says about the run: `finished` at its planned end; `stopped` by us, so the record is valid up to then;
   * `interrupted` by a foreign signal; `too slow`, if the service's answers did not come in time; `harness`, for errors
   * that only we or this machine can cause.
   */
  readonly says: "finished" | "stopped" | "interrupted" | "too slow" | "harness";
}

/** k6's exit codes (its package errext/exitcodes), and what each says about a run that we started. */
const meanings: Readonly<Record<number, readonly [meaning: string, says: K6End["says"]]>> = {
  0: ["finished", "finished"],
  2: ["crashed in its Go runtime, for example when out of memory", "harness"],
  97: ["failed a run in its cloud, although this was not one", "harness"],
  98: ["lost sight of a run in its cloud, although this was not one", "harness"],
  99: ["crossed a threshold, although thresholds were off", "harness"],
  100: ["gave up before the load: the service's answers took too long in the set-up", "too slow"],
  101: ["took too long in the script's teardown", "harness"],
  102: ["took too long", "harness"],
  103: ["was stopped through its REST API, although that was off", "interrupted"],
  104: ["did not accept its configuration", "harness"],
  105: ["was stopped by a signal", "interrupted"],
  106: ["could not start its REST API", "harness"],
  107: ["failed: the script threw an exception", "harness"],
  108: ["stopped: the script gave up", "harness"],
  109: ["crashed with a panic", "harness"],
  110: ["failed: the script marked the run as failed", "harness"],
  // Its code -1, for errors without a specific code.
  255: ["failed with an error without a specific code", "harness"],
};

/**
 * The meaning of k6's end. `asked`: we told it to stop, so the end is the intended one, whether by the signal, by
 * itself at the same moment, or by force.
 */
export const endOf = (exitCode: number | null, signal: string | null, asked: boolean): K6End => {
  if (exitCode === null) {
    const named = signal === null ? {} : { signal };
    if (asked) return { ...named, meaning: "was stopped by force", says: "stopped" };
    const isCrash = ["SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"].includes(signal ?? "");
    const meaning = `was ended by ${signal ?? "an unknown signal"}`;
    return { ...named, meaning, says: isCrash ? "harness" : "interrupted" };
  }
  const [meaning, says] = meanings[exitCode] ?? [
    `ended with exit code ${exitCode}, which is unknown`,
    "harness",
  ];
  if (asked && exitCode === 105) return { exitCode, meaning: "was stopped by us", says: "stopped" };
  return { exitCode, meaning, says };
};
