import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { plainSymbolOf } from "../text/verdicts.ts";
import type { Palette } from "./palette.ts";

const paints: Readonly<Record<VerdictKind, keyof Palette>> = {
  passed: "green",
  failed: "red",
  warned: "yellow",
  observed: "cyan",
  pending: "yellow",
  "not-applicable": "dim",
  "could-not-run": "yellow",
  inconclusive: "yellow",
  "harness-error": "red",
};

export const symbolOf = (kind: VerdictKind, palette: Palette): string =>
  inColourOf(kind, palette, plainSymbolOf(kind));

/** A text in the colour of a verdict. */
export const inColourOf = (kind: VerdictKind, palette: Palette, text: string): string =>
  palette[paints[kind]](text);
