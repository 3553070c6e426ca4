import { discard, inconclusive, type CaseVerdict } from "../judging/case-verdict.ts";
import { ControlFailed, TransportError, whatAnswers } from "../world/exchange.ts";
import { newScope, type Scope, type Losses } from "../world/evidence/journal.ts";
import type { World } from "../world/world.ts";
import type { ClientIndex } from "./client-assignment.ts";
import { Interrupted, type CaseResult, type RunContext, type Tally } from "./context.ts";
import { retryPolicy } from "../world/http/retry.ts";

const LOCKED = "the service locks clients out after refused requests, each time that this is played";

/** Cases of one part that may end for lack of an answer; after that the service hangs, and others would only wait too. */
const MOST_SILENT_CASES = 3;

export interface OnceOptions {
  /** Requests that are known to get no answer. */
  readonly knownLosses?: Iterable<string>;
  /** Whether the case says nothing if an answer is lost or a control fails, instead of being repeated. */
  readonly mayLose?: boolean;
}

/** One playing of a case. */
interface Played {
  readonly judgement: CaseVerdict;
  readonly scope: Scope;
  /** Whether the service defended itself meanwhile, so that it says nothing. */
  readonly isVoid: boolean;
}

/** Judges one case; if an answer is missing, it is played again, alone. */
export const judgeOnce = async (
  context: RunContext,
  judge: (world: World) => Promise<CaseVerdict>,
  tally: Tally,
  clientIndex: ClientIndex,
  { knownLosses = [], mayLose = false }: OnceOptions = {},
): Promise<CaseResult> => {
  const play = (own: RunContext, keepsNoConnection: boolean): Promise<Played> =>
    playCase(own, judge, tally, clientIndex, keepsNoConnection);
  const ended = ({ judgement, scope }: Omit<Played, "isVoid">): CaseResult => {
    if (judgement.kind === "inconclusive" && hasTimedOut(scope.losses)) tally.silent += 1;
    for (const commit of scope.findings) commit();
    if (context.untilBreach !== undefined && judgement.kind === "failed") context.untilBreach.isSeen = true;
    return { clientIndex, judgement, scope };
  };
  const first = await play(context, false);
  const { judgement, scope } = first;
  if (mayLose && (first.isVoid || scope.losses.open().size > 0))
    return ended({ scope, judgement: discard("an answer was lost") });
  if (mayLose && judgement.kind === "inconclusive")
    return ended({ scope, judgement: discard(judgement.reason) });
  const known = new Set(knownLosses);
  /** Whether playing it again would show nothing more. */
  const isSettled = (): boolean =>
    !first.isVoid && missingIn(first).every((name) => known.has(name) || tally.unanswered.has(name));
  if (isSettled()) return ended(first);
  return ended(
    await context.alone(async (own) => (isSettled() ? first : playAgain(own, first, tally, play))),
  );
};

const missingIn = ({ scope }: Played): readonly string[] => [...scope.losses.open().keys()];

/**
 * Plays a case again that missed an answer. What is missing each time, while a plain request between is answered, is the
 * service's own doing, and is judged. After a request that got no answer in time, each request has a connection of its
 * own: some services only fall silent on one that has carried others.
 */
const playAgain = async (
  context: RunContext,
  first: Played,
  tally: Tally,
  play: (context: RunContext, keepsNoConnection: boolean) => Promise<Played>,
): Promise<Omit<Played, "isVoid">> => {
  let last = first;
  let keepsNoConnection = false;
  /** What was missing each time, since a plain request between got no answer. */
  const missing = first.isVoid ? [] : [missingIn(first)];
  for (let again = 1; again <= retryPolicy.mostAgain; again += 1) {
    const hopeless = hopelessness(last.scope.losses);
    if (hopeless !== undefined) return { ...last, judgement: hopeless };
    tally.repeated += 1;
    keepsNoConnection ||= hasTimedOut(last.scope.losses);
    if (!(await context.recover(again))) missing.length = 0;
    last = await play(context, keepsNoConnection);
    if (!last.isVoid && missingIn(last).length === 0) return last;
    if (!last.isVoid) missing.push(missingIn(last));
  }
  if (last.isVoid) return { ...last, judgement: inconclusive(LOCKED, whatAnswers.locked) };
  const isOfService = missingIn(last).every((name) => missing.every((names) => names.includes(name)));
  if (missing.length >= retryPolicy.mostAgain && isOfService) {
    for (const name of missingIn(last)) tally.unanswered.add(name);
    return last;
  }
  return { ...last, judgement: hopelessness(last.scope.losses) ?? unanswered(last.scope.losses) };
};

const playCase = async (
  context: RunContext,
  judge: (world: World) => Promise<CaseVerdict>,
  tally: Tally,
  clientIndex: ClientIndex,
  keepsNoConnection: boolean,
): Promise<Played> => {
  if (context.signal.aborted) throw new Interrupted();
  const scope = newScope(context.rule, { keepsNoConnection });
  const nothing = (judgement: CaseVerdict): Played => ({ judgement, scope, isVoid: false });
  if (context.untilBreach?.isSeen === true) return nothing(discard("the rule is already broken"));
  if (tally.silent >= MOST_SILENT_CASES)
    return nothing(inconclusive("the service no longer answers", whatAnswers.timeout));
  const before = context.spacing();
  const judgement = await context
    .inWorld(scope, (world) => judgeIn(world, judge), clientIndex)
    .catch((error: unknown) => {
      if (context.signal.aborted) throw new Interrupted();
      return withoutAnswer(scope, error);
    });
  // The connections were cut meanwhile, which may look like a refusal or a breach.
  if (context.signal.aborted) throw new Interrupted();
  const { lockouts, rests } = context.spacing();
  const isLate = isOpen(judgement) && rests !== before.rests;
  return { judgement, scope, isVoid: isLate || lockouts !== before.lockouts };
};

const withoutAnswer = (scope: Scope, error: unknown): CaseVerdict => {
  if (!(error instanceof TransportError)) throw error;
  if (scope.losses.open().size === 0) scope.losses.note("a request", error);
  const where = error.exchange === 0 ? "" : ` (exchange ${error.exchange})`;
  return inconclusive(`no answer: ${error.message}${where}`, whatAnswers[error.reason]);
};

const isOpen = ({ kind }: CaseVerdict): boolean => kind === "failed" || kind === "inconclusive";

const judgeIn = (world: World, judge: (world: World) => Promise<CaseVerdict>): Promise<CaseVerdict> =>
  judge(world).catch((error: unknown) => {
    if (error instanceof ControlFailed) return inconclusive(error.message, error.settle);
    throw error;
  });

const lostBy = (losses: Losses, wanted: TransportError["reason"]): boolean =>
  [...losses.open().values()].some(({ reason }) => reason === wanted);

const hasTimedOut = (losses: Losses): boolean => lostBy(losses, "timeout");

const unanswered = (losses: Losses): CaseVerdict => {
  const [name = "a request"] = losses.open().keys();
  return inconclusive(
    `an answer was missing each of ${retryPolicy.mostAgain + 1} times that the case was played, though not always the same one; at last that to ${name}`,
    whatAnswers[hasTimedOut(losses) ? "timeout" : "closed"],
  );
};

/** The verdict of a case that it is pointless to play again; undefined if it is not. */
const hopelessness = (losses: Losses): CaseVerdict | undefined => {
  if (lostBy(losses, "locked")) return inconclusive(LOCKED, whatAnswers.locked);
  if (lostBy(losses, "throttled"))
    return inconclusive("the service keeps asking to retry later", whatAnswers.throttled);
  if (lostBy(losses, "own-limit"))
    return inconclusive(
      "this machine let Touchstone open no more connections, which is not the service's doing",
      whatAnswers["own-limit"],
    );
  return lostBy(losses, "refused")
    ? inconclusive("nothing listens at the target's address any more", whatAnswers.refused)
    : undefined;
};
