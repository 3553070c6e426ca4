import { isBroken, isJudged, type Case } from "../../conformance/contract/cases.ts";
import { amountOf } from "../text/figures.ts";
import type { Change, Comparison } from "./shape.ts";

/** The judged items of one run, and whether it is complete. */
export interface Side {
  readonly cases: readonly Case[];
  readonly isComplete: boolean;
}

/** Items that are compared by their verdicts: no figures without one, and nothing about a run as a whole. */
const isCompared = ({ status, group }: Case): boolean =>
  status !== "measured" && group !== "load" && group !== "waivers";

/**
 * Two lists of judged items, item by item, in the order of the later one: what changed, as items of the comparison, and
 * how many did not. What fails only in the later run is a regression, if it fails that run; what became worse without
 * being judged before cannot be told.
 */
export const compareCases = (base: Side, head: Side): Pick<Comparison, "cases" | "unchanged"> => {
  const [before, now] = [comparedIn(base, head), comparedIn(head, base)];
  const ids = [...new Set([...now.keys(), ...before.keys()])];
  const compared = ids.map((id) => changedCase(before.get(id), now.get(id)));
  const cases = compared.filter((one) => one !== undefined);
  return { cases, unchanged: compared.length - cases.length };
};

/** An objective counts only with the same limit, measured in two complete runs: an incomplete run neither met nor missed any. */
const comparedIn = (own: Side, other: Side): ReadonlyMap<string, Case> =>
  new Map(
    own.cases
      .filter(isCompared)
      .filter((one) => {
        if (one.group !== "objectives") return true;
        const same = other.cases.find(({ id }) => id === one.id);
        return (
          own.isComplete &&
          other.isComplete &&
          [one, same].every((each) => each !== undefined && isJudged(each)) &&
          same?.measured?.limit === one.measured?.limit
        );
      })
      .map((one) => [one.id, one]),
  );

const changedCase = (base: Case | undefined, head: Case | undefined): Case | undefined => {
  if (isObservation(base) && isObservation(head)) return changedObservation(base, head);
  const one = head ?? base;
  const change = changeOf(base, head);
  if (one === undefined || change === undefined) return undefined;
  const regresses = change === "newly failing" && (head?.status === "failed" || head?.verdict === "failed");
  const isUntold = change === "newly unable" || change === "failing unjudged";
  const { expected, seen } = head ?? {};
  return {
    id: one.id,
    group: one.group,
    status: regresses ? "failed" : isUntold ? "skipped" : "passed",
    verdict: change,
    ...(expected !== undefined && { expected }),
    ...(seen !== undefined && { seen }),
    more: [`${resultOf(base)} before, ${resultOf(head)} now`],
  };
};

const resultOf = (one: Case | undefined): string => {
  if (one === undefined) return "no result";
  const { verdict, measured } = one;
  return measured?.limit === undefined ? verdict : `${verdict} (${amountOf(measured)})`;
};

const changeOf = (base: Case | undefined, head: Case | undefined): Change | undefined => {
  if (head === undefined) return "only in base";
  const wasJudged = base !== undefined && isJudged(base);
  if (isBroken(head)) {
    if (base !== undefined && isBroken(base)) return "still failing";
    return wasJudged ? "newly failing" : "failing unjudged";
  }
  if (base === undefined) return "only in head";
  if (base.verdict === head.verdict) return undefined;
  if (!isJudged(head)) return wasJudged ? "newly unable" : "other verdict";
  if (isBroken(base)) return "fixed";
  return wasJudged ? "other verdict" : "able again";
};

const isObservation = (one: Case | undefined): one is Case =>
  one?.verdict === "observed" || one?.verdict === "drifted";

/** What a profile pins is what its observation expects. */
const changedObservation = (base: Case, head: Case): Case | undefined => {
  if (base.seen === head.seen) return undefined;
  const isPinned = head.expected !== undefined;
  return {
    id: head.id,
    group: OBSERVATIONS,
    status: isPinned ? "failed" : "passed",
    verdict: isPinned ? "drifted" : "changed",
    expected: base.seen ?? "",
    seen: head.seen ?? "",
  };
};
export const OBSERVATIONS = "observations";

/** Whether there is a promise or an objective that both runs judged. */
export const judgeInCommon = (base: readonly Case[], head: readonly Case[]): boolean =>
  head.some(
    (one) => isCompared(one) && isJudged(one) && base.some((other) => other.id === one.id && isJudged(other)),
  );

/** What a list lacks that the other one has: rules that it did not judge, endpoints of which it measured nothing. */
export const lackingIn = (
  own: readonly Case[],
  other: readonly Case[],
): readonly Omit<Comparison["lacking"][number], "side">[] => {
  const found = new Map(own.map((one) => [one.id, one]));
  const isMissing = (one: Case): boolean => {
    const same = found.get(one.id);
    return one.status === "measured"
      ? same === undefined && !one.id.startsWith("all ")
      : isCompared(one) &&
          one.group !== "objectives" &&
          isJudged(one) &&
          (same === undefined || !isJudged(same));
  };
  const whyOf = new Map(
    other
      .filter(isMissing)
      .map((one) => [
        one.status === "measured" ? `endpoint ${one.id.split(" ")[0]}` : one.id,
        found.get(one.id)?.verdict ?? "not checked",
      ]),
  );
  return [...whyOf].map(([what, why]) => ({ what, why }));
};
