import type { SecondLine } from "../../../conformance/contract/load-record.ts";

/** When a run is given up: the share of failed requests over a bound, for so many seconds on end. */
export interface AbortRule {
  readonly errorShare: number;
  readonly seconds: number;
}

export const usualAbortRule: AbortRule = { errorShare: 0.5, seconds: 5 };

/** Is told each second of a run; answers with the reason once the run is to be given up. */
export const createAbortWatch = ({ errorShare, seconds }: AbortRule) => {
  let bad = 0;
  return (line: Pick<SecondLine, "requests">): string | undefined => {
    const counts = Object.values(line.requests);
    const failed = counts.reduce((sum, count) => sum + count.failed, 0);
    const all = counts.reduce((sum, { granted, refused }) => sum + granted + refused, failed);
    // A second without a finished request says nothing: a service that hangs is found when its requests time out.
    if (all === 0) return undefined;
    bad = failed / all > errorShare ? bad + 1 : 0;
    return bad < seconds
      ? undefined
      : `more than ${errorShare * 100} % of the requests failed for ${seconds} seconds on end`;
  };
};
