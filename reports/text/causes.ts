import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Verdict } from "../../conformance/contract/verdict.ts";
import { wordOf } from "./verdicts.ts";
import { safe } from "./safe.ts";

/** Rules that were not judged for the same reason. */
export interface Cause {
  readonly kind: Verdict["kind"];
  readonly title: string;
  readonly detail: string;
  readonly ids: readonly string[];
}

/** A text without what varies between exchanges: times, and numbers of masked values. */
const skeleton = (text: string): string => text.replaceAll(/\d+/g, "#");

/** The count of cases of one rule, which says nothing about several rules. */
const count = /^\d+ of \d+ cases could not be decided: /;

/** Why rules were not judged, grouped by cause. Controls that failed with similar answers are one cause. */
export const causesOf = (results: readonly RuleResult[]): readonly Cause[] => {
  const causes = new Map<string, Cause>();
  for (const { id, verdict } of results) {
    const { kind } = verdict;
    const title = titleOf(verdict);
    if (title === undefined) continue;
    const detail = kind === "inconclusive" ? whyOpen(verdict) : reasonOf(verdict);
    const key = `${kind}\n${title}\n${kind === "inconclusive" ? skeleton(detail.replace(count, "")) : detail}`;
    const before = causes.get(key);
    causes.set(
      key,
      before === undefined
        ? { kind, title, detail, ids: [safe(id)] }
        : { ...before, detail: before.detail.replace(count, ""), ids: [...before.ids, safe(id)] },
    );
  }
  return [...causes.values()];
};

const MANY = 3;

/**
 * The promises on the way to a list, in the order in which a client needs them. The later ones are judged only where the
 * earlier steps succeed, so the last broken one is where the flow ends, and other breaches may follow from it.
 */
const flow = ["authorize.answers-with-code", "exchange.token-set", "exchange.access-token-works"];

/** Where the flow ends, if other rules are broken too. */
export const brokenStepOf = (results: readonly RuleResult[]): string | undefined => {
  const broken = results.filter(({ verdict }) => verdict.kind === "failed").map(({ id }) => id);
  return broken.length <= MANY ? undefined : flow.findLast((id) => broken.some((one) => one === id));
};

const HISTORIES = "lifecycle.model";

/**
 * The steps that break lifecycle.model, shrunk, where many other rules are broken too: what one client's requests do to
 * another's breaks nearly every rule, and few steps show it. Undefined if a replay did not show them again.
 */
export const shrunkStepsOf = (
  results: readonly RuleResult[],
): { readonly id: string; readonly steps: string } | undefined => {
  const broken = results.filter(({ verdict }) => verdict.kind === "failed");
  const verdict = broken.find(({ id }) => id === HISTORIES)?.verdict;
  if (broken.length <= MANY || verdict?.kind !== "failed") return undefined;
  const { counterexample: steps, replayed } = verdict.breach.reproduction;
  const { failures, attempts } = replayed;
  return steps === undefined || attempts === 0 || failures < attempts
    ? undefined
    : { id: HISTORIES, steps: safe(steps) };
};

/**
 * The reason why most rules could not be judged, if there are many and breaches quote the same answer: start with these
 * breaches. Undefined if the record does not show that.
 */
export const commonCauseOf = (results: readonly RuleResult[]) => {
  const reasons = results.flatMap(({ id, verdict }) =>
    verdict.kind === "inconclusive" ? [{ id: safe(id), reason: verdict.reason.replace(count, "") }] : [],
  );
  const groups = [...Map.groupBy(reasons, ({ reason }) => skeleton(reason)).values()];
  const [largest = []] = groups.toSorted((a, b) => b.length - a.length);
  const reason = largest[0]?.reason ?? "";
  const answer = /status \d+, .+/s.exec(reason)?.[0];
  if (largest.length < MANY || answer === undefined) return undefined;
  const broken = results.flatMap(({ id, verdict }) =>
    verdict.kind === "failed" && skeleton(verdict.breach.actual).includes(skeleton(answer)) ? [id] : [],
  );
  return broken.length === 0
    ? undefined
    : { reason: safe(reason), unjudged: largest.map(({ id }) => id), broken };
};

const titleOf = (verdict: Verdict): string | undefined => {
  const word = wordOf(verdict.kind);
  switch (verdict.kind) {
    case "could-not-run":
      return `${word}: ${lackOf(verdict)}`;
    case "inconclusive":
      return word;
    case "pending":
      return `${word} until ${safe(verdict.due)} by the target's clock`;
    case "not-applicable":
      return verdict.by === "profile" ? `${word}, as stated by the profile` : `${word} to this service`;
    case "harness-error":
      return `${word}: this is a fault of Touchstone, not of the service`;
    default:
      return undefined;
  }
};

/** What was missing. A hook that is there and failed is named in its own reason. */
const lackOf = ({ missing, reason }: Extract<Verdict, { readonly kind: "could-not-run" }>): string =>
  `${safe(missing)} ${reason.startsWith(`${missing}: `) ? "failed" : "is missing"}`;

const reasonOf = (verdict: Verdict): string => {
  if ("reason" in verdict) return safe(verdict.reason);
  return "message" in verdict ? safe(verdict.message) : "";
};

/** Why a verdict leaves its rule open, and what would decide it. */
export const whyOpen = (verdict: Verdict): string => {
  const reason = reasonOf(verdict);
  if ("missing" in verdict) return `${reason}; ${lackOf(verdict)}`;
  if ("settle" in verdict) return `${reason}; to resolve: ${safe(verdict.settle)}`;
  return "due" in verdict ? `${reason}; due ${safe(verdict.due)}` : reason;
};
