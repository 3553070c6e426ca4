import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { rate } from "./figures.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";

/** Verdicts in the order of totals: those that need attention come first. */
export const verdictOrder = Object.keys({
  failed: true,
  "harness-error": true,
  warned: true,
  inconclusive: true,
  "could-not-run": true,
  pending: true,
  "not-applicable": true,
  observed: true,
  passed: true,
} satisfies Record<VerdictKind, true>) as readonly VerdictKind[];

export const wordOf = (kind: VerdictKind): string => kind.replaceAll("-", " ");

/** The same for one of two runs, which may have no result. */
export const wordOfResult = (kind: VerdictKind | undefined): string =>
  kind === undefined ? "no result" : wordOf(kind);

export const isVerdict = (text: string): text is VerdictKind => verdictOrder.some((kind) => kind === text);

/** What a ramp found: the rate, and what gave way there. */
export const rampAnswer = ({ breakpoint, outcome }: Pick<LoadRecord, "breakpoint" | "outcome">) => {
  if (breakpoint === undefined) return undefined;
  const { heldTo, gaveWay } = breakpoint;
  if (heldTo === 0)
    return `${gaveWay?.name ?? "An objective"} was missed from the lowest rate of the ramp on.`;
  const upTo = `${rate(heldTo)} requests per second`;
  if (gaveWay === undefined || outcome === "incomplete")
    return `Every objective held up to at least ${upTo}.`;
  return `Every objective held up to ${upTo}, where ${gaveWay.name} gave way.`;
};
