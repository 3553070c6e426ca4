import type { RuleResult } from "../../conformance/contract/record.ts";
import { breachBlock } from "./breaches.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page } from "./palette.ts";

/** What judging one rule again came to. */
export interface ReplayResult {
  readonly answer: "still fails" | "fixed" | "could not run";
  readonly result: RuleResult;
}

/** The answer first, then the breach with its history, or why the rule could not be judged. */
export const renderReplay = (
  { answer, result }: ReplayResult,
  options: Page & { readonly run: string },
): string => {
  const { palette, columns } = fitted(options);
  const paint = { "still fails": palette.red, fixed: palette.green, "could not run": palette.yellow }[answer];
  const { verdict } = result;
  const reason = "reason" in verdict ? verdict.reason : verdict.kind === "harness-error" ? verdict.message : undefined;
  const lines = [
    `${paint(answer)}  ${safe(result.id)}`,
    ...(reason === undefined ? [] : indent(wrap(safe(reason), columns - 2), 2)),
    ...indent(breachBlock(result, { ...options, program: "touchstone", histories: true }), 2),
  ];
  return `${lines.join("\n")}\n`;
};
