import { requestsIn } from "../../../conformance/contract/second-counts.ts";
import { isOfService, type SecondLine } from "../../../conformance/contract/load-record.ts";

/** When to abort a run: the share of failed requests exceeds a bound for this many consecutive seconds. */
export interface AbortRule {
  readonly errorShare: number;
  readonly seconds: number;
}

export const usualAbortRule: AbortRule = { errorShare: 0.5, seconds: 5 };

const HOOK = "hooks.events.trigger";

/** Whether a run was aborted because of the team's own hook, which says nothing about the service. */
export const isHooksFault = (reason: string): boolean => reason.includes(HOOK);

type Line = Pick<SecondLine, "asked" | "requests">;

const ofService = ({ requests }: Line): Pick<Line, "requests"> => ({
  requests: Object.fromEntries(Object.entries(requests).filter(([endpoint]) => isOfService(endpoint))),
});

/** Receives each second of a run; returns the reason once the run should be aborted. */
export const createAbortWatch = ({ errorShare, seconds }: AbortRule) => {
  let bad: readonly Line[] = [];
  const areBad = (lines: readonly Pick<Line, "requests">[]): boolean => {
    const { failed, all } = requestsIn(lines);
    return failed > errorShare * all;
  };
  return (line: Line): string | undefined => {
    // A second without finished requests says nothing: a hanging service is detected when its requests time out. After
    // the last stage only the slowest requests are left, and there is nothing to abort.
    if (line.asked === 0 || requestsIn([line]).all === 0) return undefined;
    bad = areBad([line]) ? [...bad, line].slice(-seconds) : [];
    if (bad.length < seconds) return undefined;
    const reason = `more than ${errorShare * 100} % of the requests failed in each of ${seconds} consecutive seconds in which any ended`;
    return areBad(bad.map(ofService)) ? reason : `calls of ${HOOK} failed, and so ${reason}`;
  };
};
