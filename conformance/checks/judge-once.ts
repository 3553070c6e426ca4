import { discard, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { ControlFailed, TransportError, whatAnswers } from "../world/exchange.ts";
import { newScope, type Scope } from "../world/evidence/journal.ts";
import type { World } from "../world/world.ts";
import type { ClientIndex } from "./client-assignment.ts";
import { Interrupted, type CaseResult, type RunContext } from "./context.ts";
import { hasTimedOut, hopelessness, watchRecurrence } from "./recurrence.ts";
import type { Tally } from "./tally.ts";

/** Cases of one part that may end for lack of an answer; after that the service hangs, and others would only wait too. */
const MOST_SILENT_CASES = 3;

/**
 * Judges one case, and repeats it as a whole if an answer was lost. After a request that got none in time, each request
 * has a connection of its own: some services only fall silent on one that has carried others.
 */
export const judgeOnce = async (
  context: RunContext,
  judge: (world: World) => Promise<CaseVerdict>,
  tally: Tally,
  clientIndex: ClientIndex,
  /** Requests that are known to get no answer. */
  knownLosses?: Iterable<string>,
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
