import { leftBehindLine, leftBehindSentences } from "../../conformance/contract/left-behind.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";

/** What a run left on its target, one sentence each. The embedded fake keeps nothing: it ends with the run. */
export const leftOn = ({ target, leftBehind }: RunRecord): readonly string[] =>
  target.profiles.length === 0 || leftBehind === undefined ? [] : leftBehindSentences(leftBehind);

export const leftInShort = ({ target, leftBehind }: RunRecord): string | undefined =>
  target.profiles.length === 0 || leftBehind === undefined ? undefined : leftBehindLine(leftBehind);
