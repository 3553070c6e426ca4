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
