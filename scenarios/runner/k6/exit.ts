export interface K6End {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly meaning: string;
  /**
   * What it says of the run: `finished` to its planned end; `stopped` by us, after which the record
   * is valid up to that moment; `interrupted` by a signal from elsewhere; `harness`, for what can only
   * be a mistake of ours or of this machine's.
   */
  readonly says: "finished" | "stopped" | "interrupted" | "harness";
}

/** k6's exit codes one by one (its package errext/exitcodes), and what each says of a run that we set up. */
const meanings: Readonly<Record<number, readonly [meaning: string, says: K6End["says"]]>> = {
  0: ["finished", "finished"],
  2: ["crashed in its Go runtime, as when memory runs out", "harness"],
  97: ["failed a run in its cloud, which this one was not", "harness"],
  98: ["lost sight of a run in k6's cloud, which this one was not", "harness"],
  99: ["crossed a threshold, though thresholds were off", "harness"],
  100: ["took too long in the script's setup", "harness"],
  101: ["took too long in the script's teardown", "harness"],
  102: ["took too long", "harness"],
  103: ["was stopped through its REST API, which we had switched off", "interrupted"],
  104: ["did not accept its configuration", "harness"],
  105: ["was stopped by a signal", "interrupted"],
  106: ["could not start its REST API", "harness"],
  107: ["failed: the script threw an exception", "harness"],
  108: ["stopped: the script gave up", "harness"],
  109: ["crashed with a panic", "harness"],
  110: ["failed: the script marked the run so", "harness"],
  // Its code -1, for every error without a specific code.
  255: ["failed with an error that has no specific code", "harness"],
};

/**
 * What k6's end means. `asked` tells whether we had told it to stop: then the end is the one we
 * wanted, whether it came by the signal, by itself at the same moment, or by force.
 */
export const endOf = (exitCode: number | null, signal: string | null, asked: boolean): K6End => {
  if (exitCode === null) {
    const meaning = `was ended by ${signal ?? "an unknown signal"}`;
    if (asked) return { ...named(signal), meaning: "was stopped by force", says: "stopped" };
    const isCrash = ["SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "SIGFPE"].includes(signal ?? "");
    return { ...named(signal), meaning, says: isCrash ? "harness" : "interrupted" };
  }
  const [meaning, says] = meanings[exitCode] ?? [
    `ended with exit code ${exitCode}, which is unknown`,
    "harness",
  ];
  if (asked && exitCode === 105) return { exitCode, meaning: "was stopped by us", says: "stopped" };
  return { exitCode, meaning, says };
};

const named = (signal: string | null): { readonly signal?: string } => (signal === null ? {} : { signal });
