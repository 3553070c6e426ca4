import { duration } from "../../contract/duration.ts";
import { KEPT_CHARACTERS } from "../../contract/push.ts";
import { given } from "../../contract/given.ts";
import type { Facts } from "../../contract/verdict.ts";
import { inconclusive, pass, type CaseVerdict } from "../case-verdict.ts";
import type { Doubt } from "./cases.ts";
import type { Explanation } from "./explain.ts";
import { proofOf, worstFlaw } from "./proof.ts";
import type { PushRun, SeenPush } from "./trace.ts";

/** What a push run shows about one requirement. */
export interface Finding {
  readonly judgement: CaseVerdict;
  /** How many notifications (or pushes) were decisive. */
  readonly cases: number;
  readonly facts?: Facts | undefined;
  /** The pushes that show a breach. */
  readonly evidence?: readonly SeenPush[];
}

/** A notification that breaks the requirement; the sentences have at most twenty words, a table of its pushes has the rest. */
export interface Broken {
  readonly expected: string;
  readonly actual: string;
  readonly evidence: readonly SeenPush[];
  /** What the notification was for; absent if it is not known. */
  readonly name?: string | undefined;
  readonly shown?: Explanation | undefined;
}

/** One decided notification: it keeps the promise, or breaks it as described. */
export type Part = "passed" | Broken;

/**
 * A breach if there is any; otherwise undecided if any notification is, or if there is none. `what` goes on from the number
 * of those that are.
 */
export const findingOf = (
  parts: readonly (Part | Doubt)[],
  none: Doubt,
  facts?: Facts,
  what = "are undecided",
): Finding => {
  const broken = parts.filter((part) => typeof part === "object" && "expected" in part);
  const doubts = parts.filter((part) => typeof part === "object" && "why" in part);
  const [doubt] = doubts;
  const breach = typicalOf(broken);
  const cases = parts.length - doubts.length;
  if (breach === undefined) {
    if (doubt !== undefined)
      return undecided(
        { ...doubt, why: `${doubts.length} of ${parts.length} notifications ${what}, but ${doubt.why}` },
        facts,
      );
    return cases === 0 ? undecided(none, facts) : { judgement: pass, cases, facts };
  }
  const { expected, actual, evidence, name, shown } = breach;
  const names = [...new Set(broken.flatMap((one) => one.name ?? []))];
  return {
    judgement: { kind: "failed", expected, actual, ...given({ input: name }) },
    cases,
    evidence,
    facts: {
      ...facts,
      ...(names.length < 2 ? {} : { broken: names.slice(0, MOST_NAMES), brokenCases: names.length }),
      ...(shown === undefined ? {} : proofOf(shown)),
    },
  };
};

const MOST_NAMES = 20;

/** Of those that break it in the commonest way, one all pushes of which were seen. */
const typicalOf = (broken: readonly Broken[]): Broken | undefined => {
  const ways = Map.groupBy(broken, ({ shown }) => {
    const flaw = shown && worstFlaw(shown);
    return flaw && `${flaw.kind} ${flaw.push}`;
  });
  const [most = []] = [...ways.values()].toSorted((a, b) => b.length - a.length);
  return most.find(({ shown }) => shown?.sends.every(({ blind }) => blind === undefined)) ?? most[0];
};

export const undecided = ({ why, settle }: Doubt, facts?: Facts): Finding => ({
  judgement: inconclusive(why, settle),
  cases: 0,
  facts,
});

/** What is open because nothing, or no retry, came. */
export const withoutPush = (why: string): Doubt => ({
  why,
  settle: "pushes that reach the receiver: push.delivered says which events lack one",
});
export const withoutRetry = (why: string): Doubt => ({
  why,
  settle: "a sender that repeats what failed: push.unacknowledged-retries says which pushes are missing",
});

export const NAMED = "pushes that name their notification: push.payload says what they lack";
export const TOO_LONG: Doubt = {
  why: `each pushed body is longer than the ${KEPT_CHARACTERS} characters that the receiver keeps`,
  settle: "events (hooks.events.trigger of the profile) whose notifications are shorter",
};

/** What is open because watching stopped too early. */
export const stoppedBefore = (what: string, byMs: number, { clock, ...trace }: PushRun): Doubt => ({
  why: `watching stopped ${duration(byMs)} before ${what}`,
  settle:
    clock === "real"
      ? `a --max-wait of at least ${duration(trace.watchedUntil.latestMs - trace.watchedFromMs + byMs)}, for a run that watches ${duration(byMs)} longer`
      : `a hooks.clock.advance that moves the clock ${duration(byMs)} further`,
});

export const IN_REAL_TIME = "a run in real time, without hooks.clock.advance";
