import type { RuleResult } from "../../conformance/contract/record.ts";
import { whyOpen } from "../text/causes.ts";
import { breachCard } from "./gate-rules.ts";
import { doc, section, type Doc, type Look } from "./model.ts";

export interface ReplayResult {
  readonly answer: "still fails" | "fixed" | "could not run";
  readonly result: RuleResult;
}

const looks: Readonly<Record<ReplayResult["answer"], Look>> = {
  "still fails": ["bad", "cross"],
  fixed: ["good", "check"],
  "could not run": ["open", "slash"],
};

export const replayDoc = (
  { answer, result }: ReplayResult,
  { run, program = "touchstone" }: { readonly run: string; readonly program?: string },
): Doc =>
  doc({
    title: `${result.id} of ${run}`,
    look: looks[answer],
    headline: `${result.id}: ${answer}`,
    detail: whyOpen(result.verdict),
    sections: [
      section("breach", "The breach", ...breachCard(result, run, { prefix: "", program, isShort: false })),
    ],
    source: run,
  });
