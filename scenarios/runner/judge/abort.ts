import { requestsIn } from "../../../conformance/contract/second-counts.ts";
import type { SecondLine } from "../../../conformance/contract/load-record.ts";

/** When to abort a run: the share of failed requests exceeds a bound for this many consecutive seconds. */
export interface AbortRule {
  readonly errorShare: number;
  readonly seconds: number;
}

export const usualAbortRule: AbortRule = { errorShare: 0.5, seconds: 5 };

/** Receives each second of a run; returns the reason once the run should be aborted. */
export const createAbortWatch = ({ errorShare, seconds }: AbortRule) => {
  let bad = 0;
  return (line: Pick<SecondLine, "requests">): string | undefined => {
    const { failed, all } = requestsIn([line]);
    // A second without finished requests says nothing: a hanging service is detected when its requests time
    // out.
    if (all === 0) return undefined;
    bad = failed / all > errorShare ? bad + 1 : 0;
    return bad < seconds
      ? undefined
      : `more than ${errorShare * 100} % of the requests failed for ${seconds} consecutive seconds`;
  };
};
