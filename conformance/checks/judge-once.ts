import { discard, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { ControlFailed, TransportError, whatAnswers } from "../world/exchange.ts";
import { newScope, type Scope, type Loss, type Losses } from "../world/evidence/journal.ts";
import type { World } from "../world/world.ts";
import type { ClientIndex } from "./client-assignment.ts";
import { Interrupted, type CaseResult, type RunContext, type Tally } from "./context.ts";
import { retryPolicy } from "../world/http/retry.ts";

/** Cases of one part that may end for lack of an answer; after that the service hangs, and others would only wait too. */
const MOST_SILENT_CASES = 3;

export interface OnceOptions {
  /** Requests that are known to get no answer. */
  readonly knownLosses?: Iterable<string>;
  /** Whether the case says nothing if an answer is lost or a control fails, instead of being repeated. */
  readonly mayLose?: boolean;
}

/**
 * Judges one case, and repeats it as a whole if an answer was lost. After a request that got none in time, each request
 * has a connection of its own: some services only fall silent on one that has carried others.
 */
export const judgeOnce = async (
  context: RunContext,
  judge: (world: World) => Promise<CaseVerdict>,
  tally: Tally,
  clientIndex: ClientIndex,
  { knownLosses, mayLose = false }: OnceOptions = {},
): Promise<CaseResult> => {
  const recurrence = watchRecurrence(knownLosses);
  let keepsNoConnection = false;
  for (let tries = 1; ; tries += 1) {
    if (context.signal.aborted) throw new Interrupted();
    const scope = newScope(context.rule, keepsNoConnection);
    const ended = (judgement: CaseVerdict): CaseResult => ({ clientIndex, judgement, scope });
    if (context.untilBreach?.isSeen === true) return ended(discard("the rule is already broken"));
    if (tally.silent >= MOST_SILENT_CASES)
      return ended(inconclusive("the service no longer answers", whatAnswers.timeout));
    const judgement = await judgeTry(context, scope, judge, clientIndex);
    if (mayLose && scope.losses.open().size > 0) return ended(discard("an answer was lost"));
    if (mayLose && judgement.kind === "inconclusive") return ended(discard(judgement.reason));
    if (judgement.kind === "failed" || judgement.kind === "inconclusive") scope.losses.noteDoubts();
    if (recurrence.stands(scope.losses, judgement.kind !== "inconclusive")) {
      if (judgement.kind === "inconclusive" && hasTimedOut(scope.losses)) tally.silent += 1;
      for (const commit of scope.findings) commit();
      if (context.untilBreach !== undefined && judgement.kind === "failed") context.untilBreach.isSeen = true;
      return ended(judgement);
    }
    const hopeless = hopelessness(scope.losses, tries);
    if (hopeless !== undefined) {
      tally.silent += 1;
      return ended(judgement.kind === "inconclusive" ? judgement : hopeless);
    }
    tally.repeated += 1;
    keepsNoConnection ||= hasTimedOut(scope.losses);
    if (!(await context.recover(tries))) recurrence.forget();
  }
};

const judgeTry = async (
  context: RunContext,
  scope: Scope,
  judge: (world: World) => Promise<CaseVerdict>,
  clientIndex: ClientIndex,
): Promise<CaseVerdict> => {
  try {
    const judgement = await context.inWorld(scope, judge, clientIndex);
    // The connections were cut meanwhile, which may look like a refusal or a breach.
    if (context.signal.aborted) throw new Interrupted();
    return judgement;
  } catch (error) {
    if (context.signal.aborted) throw new Interrupted();
    if (error instanceof ControlFailed) return inconclusive(error.message, error.settle);
    if (!(error instanceof TransportError)) throw error;
    if (scope.losses.open().size === 0) scope.losses.note("a request", error);
    return inconclusive(
      `no answer: ${error.message} (exchange ${error.exchange})`,
      whatAnswers[error.reason],
    );
  }
};

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

const hasTimedOut = (losses: Losses): boolean => lostBy(losses, "timeout");

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
