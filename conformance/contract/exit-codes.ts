export const exitCodes = {
  passed: 0,
  failed: 1,
  usage: 2,
  incomplete: 3,
  unreachable: 4,
  "harness-error": 5,
  drifted: 6,
  interrupted: 130,
} as const;

/** A breach outweighs everything; what Touchstone failed at outweighs what it could not judge; then comes drift. */
const worstFirst: readonly number[] = [
  exitCodes.failed,
  exitCodes["harness-error"],
  exitCodes.usage,
  exitCodes.unreachable,
  exitCodes.interrupted,
  exitCodes.incomplete,
  exitCodes.drifted,
];

/** The exit code of a command with several results. */
export const worstExitCode = (codes: readonly number[]): number =>
  worstFirst.find((code) => codes.includes(code)) ?? exitCodes.passed;

export const exitCodeMeanings: Readonly<Record<number, string>> = {
  0: "every required rule ran and held",
  1: "the service broke a promise",
  2: "the command or the configuration is wrong",
  3: "not every required rule could be judged",
  4: "the target cannot be reached",
  5: "the harness itself failed",
  6: "a pinned observation changed",
  130: "interrupted; the record so far can be read",
};
