import type { RuleResult } from "../../conformance/contract/record.ts";
import { given } from "../../conformance/contract/given.ts";
import { lackOf, reasonOf, type Verdict } from "../../conformance/contract/verdict.ts";
import { wordOf } from "./verdicts.ts";

/** Rules that were not judged for the same reason. */
export interface Cause {
  readonly kind: Verdict["kind"];
  readonly title: string;
  readonly why: string;
  /** What would decide them. */
  readonly needed?: string;
  readonly ids: readonly string[];
}

/** A text without what varies between exchanges: times, and numbers of masked values; not statuses. */
export const skeleton = (text: string): string => text.replaceAll(/(?<!\bstatus \d{0,2})\d+/g, "#");

/** The count of cases of one rule, which says nothing about several rules. */
export const count = /^\d+ of \d+ cases could not be decided: /;

/** Why rules were not judged, grouped by cause. Controls that failed with similar answers are one cause. */
export const causesOf = (results: readonly RuleResult[]): readonly Cause[] => {
  const causes = new Map<string, Cause>();
  for (const { id, verdict } of results) {
    const { kind } = verdict;
    const title = titleOf(verdict);
    if (title === undefined) continue;
    const [why, needed] = [reasonOf(verdict), "settle" in verdict ? verdict.settle : undefined];
    const key = `${kind}\n${title}\n${kind === "inconclusive" ? skeleton(`${why.replace(count, "")}\n${needed}`) : why}`;
    const before = causes.get(key);
    causes.set(
      key,
      before === undefined
        ? { kind, title, why, ...given({ needed }), ids: [id] }
        : { ...before, why: before.why.replace(count, ""), ids: [...before.ids, id] },
    );
  }
  return [...causes.values()];
};

const titleOf = (verdict: Verdict): string | undefined => {
  const word = wordOf(verdict.kind);
  switch (verdict.kind) {
    case "could-not-run":
      return `${word}: ${lackOf(verdict)}`;
    case "inconclusive":
      return word;
    case "pending":
      return `${word} until ${verdict.due} by the target's clock`;
    case "not-applicable":
      return verdict.by === "profile" ? `${word}, as stated by the profile` : `${word} to this service`;
    case "harness-error":
      return `${word}: this is a fault of Touchstone, not of the service`;
    default:
      return undefined;
  }
};

/* Of many broken promises, the one to look at first, and those that follow from it. */

/** So many breaches at most are read one by one. */
const MANY = 3;

type Broken = RuleResult & { readonly verdict: { readonly kind: "failed" } };

const isBroken = (result: RuleResult): result is Broken => result.verdict.kind === "failed";

/** Whether every replay showed the breach again, and there was one. */
const isCertain = ({ verdict: { breach } }: Broken): boolean => {
  const { failures, attempts } = breach.reproduction.replayed;
  return attempts > 0 && failures === attempts;
};

/**
 * The promises on the way to a list, in the order in which a client needs them. The later ones are judged only where the
 * earlier steps succeed, so the last broken one is where the flow ends.
 */
const flow = ["authorize.answers-with-code", "exchange.token-set", "exchange.access-token-works"];
/** What follows once the flow ends well, in the same order; the first of these explains the other. */
const refreshing = ["refresh.token-set", "refresh.access-token-works"];
/** What is issued twice ends with its first owner, which breaks what others were promised of it. */
const fresh = ["authorize.code-is-fresh", "exchange.tokens-are-fresh"];
const PATHS = "notifications.versioned-path";
/** The document says nothing about statuses, but nearly every service says in these that it has nothing there. */
const nothingThere = /status 40[45]\b/;
const HISTORIES = "lifecycle.model";

/** The breach from which others may follow, in words; with the steps that show it, if these are the best explanation. */
interface Root {
  readonly id: string;
  readonly what: string;
  readonly steps?: string;
}

/**
 * Where to start, if more than a few promises are broken: a path that is not there, credentials that are issued twice, or
 * the step at which the flow ends. Otherwise the shrunk steps of lifecycle.model: what one client's requests do to
 * another's breaks nearly every rule, and few steps show it. A breach that replays did not show each time comes last.
 */
export const rootOf = (results: readonly RuleResult[]): Root | undefined => {
  const broken = results.filter(isBroken);
  if (broken.length <= MANY) return undefined;
  const certain = broken.filter(isCertain);
  const among = (some: readonly Broken[], id: string): boolean => some.some((one) => one.id === id);
  const path = certain.find(({ id, verdict }) => id === PATHS && nothingThere.test(verdict.breach.actual));
  if (path !== undefined) return { id: PATHS, what: "Nothing is served at a path of the document" };
  const repeated = fresh.find((id) => among(certain, id));
  if (repeated !== undefined) return { id: repeated, what: "Credentials are issued more than once" };
  const step = (some: readonly Broken[]): Root | undefined => {
    const isAmong = (id: string): boolean => among(some, id);
    const id = flow.findLast(isAmong) ?? refreshing.find(isAmong);
    return id === undefined ? undefined : { id, what: "A step of the flow that most rules need is broken" };
  };
  return step(certain) ?? stepsOf(certain) ?? step(broken);
};

const stepsOf = (certain: readonly Broken[]): Root | undefined => {
  const steps = certain.find(({ id }) => id === HISTORIES)?.verdict.breach.reproduction.counterexample;
  return steps === undefined
    ? undefined
    : { id: HISTORIES, what: "These steps break a promise", steps: steps };
};

const answerIn = (text: string): string | undefined => /status \d+, .+/s.exec(text)?.[0];

/** The other broken promises whose breach quotes the same answer as this one. */
export const sameAnswerAs = (results: readonly RuleResult[], root: string | undefined): readonly string[] => {
  const broken = results.filter(isBroken);
  const answer = answerIn(broken.find(({ id }) => id === root)?.verdict.breach.actual ?? "");
  if (answer === undefined) return [];
  const quoted = skeleton(answer);
  return broken.flatMap(({ id, verdict }) =>
    id !== root && skeleton(verdict.breach.actual).includes(quoted) ? [id] : [],
  );
};

/** Whether replays were tried, and none showed the breach again. */
const wasNotSeenAgain = ({ verdict: { breach } }: Broken): boolean => {
  const { failures, attempts } = breach.reproduction.replayed;
  return attempts > 0 && failures === 0;
};

/**
 * The place of each broken promise in a report, from 0: the root, what explains the rules that were not judged, others,
 * those that quote the root's answer, those that no replay showed again.
 */
export const placesOf = (results: readonly RuleResult[]): ((id: string) => number) => {
  const root = rootOf(results)?.id;
  const explaining = new Set<string>(commonCauseOf(results)?.broken);
  const following = new Set<string>(sameAnswerAs(results, root));
  const unseen = new Set<string>(
    results.filter((one) => isBroken(one) && wasNotSeenAgain(one)).map(({ id }) => id),
  );
  return (id) => {
    if (id === root) return 0;
    if (unseen.has(id)) return 4;
    if (explaining.has(id)) return 1;
    return following.has(id) ? 3 : 2;
  };
};

/**
 * The reason why most rules could not be judged, if there are many and breaches quote the same answer: start with these
 * breaches. Undefined if the record does not show that.
 */
export const commonCauseOf = (results: readonly RuleResult[]) => {
  const reasons = results.flatMap(({ id, verdict }) =>
    verdict.kind === "inconclusive" ? [{ id: id, reason: verdict.reason.replace(count, "") }] : [],
  );
  const groups = [...Map.groupBy(reasons, ({ reason }) => skeleton(reason)).values()];
  const [largest = []] = groups.toSorted((a, b) => b.length - a.length);
  const reason = largest[0]?.reason ?? "";
  const answer = answerIn(reason.replace(exchangeNumber, ""));
  if (largest.length < MANY || answer === undefined) return undefined;
  const broken = results.flatMap(({ id, verdict }) =>
    verdict.kind === "failed" && skeleton(verdict.breach.actual).includes(skeleton(answer)) ? [id] : [],
  );
  return broken.length === 0 ? undefined : { reason: reason, unjudged: largest.map(({ id }) => id), broken };
};

/** What follows the reason of a request that got no answer it could use. */
const exchangeNumber = / \(exchange \d+\)$/;
