import { inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { whatAnswers, type TransportError } from "../world/exchange.ts";
import { retryPolicy } from "../world/http/retry.ts";
import type { Loss, Losses } from "../world/evidence/losses.ts";

/**
 * Tells a service that hangs up on a request from a network that loses answers. Between two tries of a case there
 * is an answered control, so a request that fails every time did reach the service. `known` names requests that
 * the service is known not to answer.
 */
export const watchRecurrence = (known: Iterable<string> = []) => {
  const attested = new Set(known);
  const lostIn = new Map<string, number>();
  const answered = new Set<string>();
  return {
    /**
     * Records a try; returns whether its result may count, because the network lost none of it. `isJudged` is false if
     * the case could not be judged without what was lost: then, and if a gateway may have answered, it takes more losses
     * until they are the service's.
     */
    stands: (losses: Losses, isJudged = true): boolean => {
      const lost = [...losses.open().keys()];
      for (const name of losses.answered()) answered.add(name);
      for (const name of lost) lostIn.set(name, (lostIn.get(name) ?? 0) + 1);
      // The run has shown elsewhere that another try gets no answer either.
      const isNever = ({ isNeverAnswered }: Loss): boolean => isNeverAnswered === true;
      if (!isJudged && lost.length > 0 && [...losses.open().values()].every(isNever)) return true;
      const takesMore = !hasTimedOut(losses) && (!isJudged || lostBy(losses, "gateway"));
      const least = takesMore ? retryPolicy.leastClosingsOfService : retryPolicy.leastLossesOfService;
      return lost.every(
        (name) => attested.has(name) || ((lostIn.get(name) ?? 0) >= least && !answered.has(name)),
      );
    },
    /** The control got no answer either, so earlier losses say nothing about the service. */
    forget: (): void => lostIn.clear(),
  };
};

const lostBy = (losses: Losses, wanted: Loss["reason"]): boolean =>
  [...losses.open().values()].some(({ reason }) => reason === wanted);

export const hasTimedOut = (losses: Losses): boolean => lostBy(losses, "timeout");

/** The verdict of a case that it is pointless to try again; undefined if it is not. */
export const hopelessness = (losses: Losses, tries: number): CaseVerdict | undefined => {
  const undecided = (reason: TransportError["reason"], why: string): CaseVerdict =>
    inconclusive(why, whatAnswers[reason]);
  if (lostBy(losses, "throttled")) return undecided("throttled", "the service keeps asking to retry later");
  if (lostBy(losses, "refused"))
    return undecided("refused", "nothing listens at the target's address any more");
  return tries < retryPolicy.mostCaseTries
    ? undefined
    : undecided(
        hasTimedOut(losses) ? "timeout" : "closed",
        `answers were lost in each of ${tries} tries, though not always the same ones`,
      );
};
