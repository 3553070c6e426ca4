import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import type { Palette } from "./palette.ts";

interface Look {
  readonly symbol: string;
  readonly word: string;
  readonly paint: keyof Palette;
}

const looks: Readonly<Record<VerdictKind, Look>> = {
  passed: { symbol: "✓", word: "passed", paint: "green" },
  failed: { symbol: "✗", word: "failed", paint: "red" },
  warned: { symbol: "!", word: "warned", paint: "yellow" },
  observed: { symbol: "○", word: "observed", paint: "cyan" },
  pending: { symbol: "…", word: "pending", paint: "yellow" },
  "not-applicable": { symbol: "–", word: "not applicable", paint: "dim" },
  "could-not-run": { symbol: "–", word: "could not run", paint: "yellow" },
  inconclusive: { symbol: "?", word: "inconclusive", paint: "yellow" },
  "harness-error": { symbol: "#", word: "harness error", paint: "red" },
};

/** Verdicts in the order in which totals name them: what needs attention comes first. */
export const verdictOrder = [
  "failed",
  "harness-error",
  "warned",
  "inconclusive",
  "could-not-run",
  "pending",
  "not-applicable",
  "observed",
  "passed",
] as const satisfies readonly VerdictKind[];

export const symbolOf = (kind: VerdictKind, palette: Palette): string =>
  palette[looks[kind].paint](looks[kind].symbol);

export const wordOf = (kind: VerdictKind): string => looks[kind].word;

/** A text in the colour of a verdict. */
export const inColourOf = (kind: VerdictKind, palette: Palette, text: string): string =>
  palette[looks[kind].paint](text);
