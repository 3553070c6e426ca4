import { describe, expect, it } from "vitest";
import type { DetectReport } from "../../conformance/contract/detect.ts";
import { detected } from "../testing/command-documents.ts";
import { onTerminal } from "../testing/shown.ts";
import { detectDoc, interruptedDetection } from "./detect.ts";

/** The totals at the end of a report on detection. */
const ends = (report: DetectReport): string =>
  onTerminal(detectDoc(report), 80).trimEnd().split("\n\n").at(-1) ?? "";

const { defects, variants } = detected;
const unsettled = [{ variant: "slow", rule: "refresh.reusable", verdict: "inconclusive" }] as const;
const cut = "\nThe run was cut short; untried defects prove nothing.";

describe("detect", () => {
  it.each<[string, Partial<DetectReport>]>([
    [
      "? 3 of 3 defects killed; no false alarm on 34 variants; 1 verdict undecided",
      { variants: { ...variants, unsettled } },
    ],
    [
      `? 3 of 339 defects killed, 336 not tried; no false alarm on 34 variants${cut}`,
      { defects: { ...defects, total: 339 } },
    ],
    [
      `? 3 of 3 defects killed; no false alarm on 12 of 34 variants${cut}`,
      { variants: { ...variants, judged: 12 } },
    ],
  ])("has no tick where something is undecided or was not tried: %s", (end, more) => {
    expect(ends({ ...detected, ...more })).toBe(end);
  });

  it("is one line for an interrupted run", () => {
    const report = {
      ...detected,
      defects: { ...defects, total: 339 },
      variants: { ...variants, judged: 12 },
    };
    expect(interruptedDetection(report)).toBe(
      "Interrupted after 3 of 339 defects and 12 of 34 variants; seed 7. This proves nothing.\n",
    );
  });
});
