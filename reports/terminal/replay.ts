import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Verdict } from "../../conformance/contract/verdict.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { breachCard } from "../document/gate-rules.ts";
import { blockLines } from "./document.ts";
import { fitted, narrowed, type Page } from "./palette.ts";

/** What judging one rule again came to. */
export interface ReplayResult {
  readonly answer: "still fails" | "fixed" | "could not run";
  readonly result: RuleResult;
}

/** The answer first, then the breach with its history, or why the rule could not be judged. */
export const renderReplay = (
  { answer, result }: ReplayResult,
  options: Page & { readonly run: string; readonly program?: string },
): string => {
  const page = fitted(options);
  const { palette, columns } = page;
  const paint = { "still fails": palette.red, fixed: palette.green, "could not run": palette.yellow }[answer];
  const place = { prefix: "", program: options.program ?? "touchstone", isShort: false };
  const breach = breachCard(result, options.run, place).flatMap((card) =>
    blockLines(card, narrowed(page, 2)),
  );
  const reason = whyOpen(result.verdict);
  const lines = [
    `${paint(answer)}  ${safe(result.id)}`,
    ...(reason === undefined ? [] : indent(wrap(safe(reason), columns - 2).map(palette.dim), 2)),
    ...(breach.length === 0 ? [] : ["", ...indent(breach, 2)]),
  ];
  return `${lines.join("\n")}\n`;
};

const whyOpen = (verdict: Verdict): string | undefined => {
  if ("missing" in verdict) return `${verdict.missing} is missing: ${verdict.reason}`;
  if ("settle" in verdict) return `${verdict.reason}; to settle it: ${verdict.settle}`;
  if ("reason" in verdict) return verdict.reason;
  return "message" in verdict ? verdict.message : undefined;
};
