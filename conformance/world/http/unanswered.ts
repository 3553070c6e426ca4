import { accessTokenHeader } from "../../contract/forms.ts";
import { withoutQuery, type Request } from "../exchange.ts";
import { retryPolicy } from "./retry.ts";

type Kinded = Pick<Request, "method" | "path"> & Partial<Pick<Request, "headers">>;

/** Method, path, and whether a token comes with it: a service may answer only those that it refuses. */
const kindOf = ({ method, path, headers = [] }: Kinded): string =>
  headers.some(([name]) => name.toLowerCase() === accessTokenHeader)
    ? `${withoutQuery({ method, path })} with a token`
    : withoutQuery({ method, path });

interface Met {
  lost: number;
  timedOut: number;
  /** How many answers the address had given to other requests when the last loss counted. */
  answersBefore: number;
}

/**
 * Kinds of request that an address has never answered with success in the whole run, though it was lost often and the
 * address answered others each time in between. What each rule would find out by repeating such a request is then known.
 * The first success, at any time, ends that for good.
 */
export const createUnanswered = () => {
  const met = new Map<string, Met>();
  const served = new Set<string>();
  let answers = 0;
  const isNever = (request: Kinded): boolean => {
    if (met.size === 0) return false;
    const { lost = 0, timedOut = 0 } = met.get(kindOf(request)) ?? {};
    return (
      lost >= retryPolicy.leastLossesOfKind || (lost === timedOut && lost >= retryPolicy.leastLossesOfService)
    );
  };
  return {
    isNever,
    answered: (request: Kinded, status: number): void => {
      answers += 1;
      if (status >= 400) return;
      const kind = kindOf(request);
      served.add(kind);
      met.delete(kind);
    },
    /** Returns whether requests like this are known to get no answer, or only a gateway's. */
    lost: (request: Kinded, reason: "closed" | "timeout"): boolean => {
      const kind = kindOf(request);
      if (served.has(kind)) return false;
      const one = met.get(kind) ?? { lost: 0, timedOut: 0, answersBefore: -1 };
      met.set(kind, one);
      // Losses at one time may have one cause, such as a restart.
      if (answers > one.answersBefore) {
        one.lost += 1;
        if (reason === "timeout") one.timedOut += 1;
        one.answersBefore = answers;
      }
      return isNever(request);
    },
    /** How long to wait for an answer: less, if requests like this have always been waited for in vain. */
    timeLimitMs: (request: Kinded, usualMs: number): number =>
      isNever(request) ? usualMs * retryPolicy.partOfTimeLimit : usualMs,
  };
};
