import { retryPolicy } from "../world/http/retry.ts";
import type { Loss, Losses } from "../world/evidence/losses.ts";

/**
 * Tells a service that hangs up on a request from a network that loses answers. Between two tries of a case stands a
 * control that got an answer, so a request that comes to nothing each time was heard.
 */
export interface Recurrence {
  /** Takes note of a try; says whether what it came to may count, because the network has lost nothing of it. */
  stands(losses: Losses): boolean;
  /** The control got no answer either: what was lost so far says nothing of the service. */
  forget(): void;
}

/** `known` names requests that the service is known not to answer. */
export const watchRecurrence = (known: Iterable<string> = []): Recurrence => {
  const attested = new Set(known);
  const lostIn = new Map<string, number>();
  const answered = new Set<string>();
  return {
    stands: (losses) => {
      const lost = [...losses.open().keys()];
      for (const name of losses.answered()) answered.add(name);
      for (const name of lost) lostIn.set(name, (lostIn.get(name) ?? 0) + 1);
      return lost.every(
        (name) =>
          attested.has(name) ||
          ((lostIn.get(name) ?? 0) >= retryPolicy.leastLossesOfService && !answered.has(name)),
      );
    },
    forget: () => lostIn.clear(),
  };
};

/** Why another try makes no sense, as a sentence; undefined where it does. */
export const hopelessness = (losses: Losses, tries: number): string | undefined => {
  const lost = [...losses.open().values()];
  const has = (reason: Loss["reason"]): boolean => lost.some((one) => one.reason === reason);
  if (has("throttled")) return "the service asks again and again to come back later";
  if (has("refused")) return "nothing listens at the target's address any more";
  return tries < retryPolicy.mostCaseTries
    ? undefined
    : `answers were lost in each of ${tries} tries, and not always the same ones`;
};
