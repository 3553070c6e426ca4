import type { VNode } from "preact";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { wordOf } from "../text/verdicts.ts";
import { el } from "./element.ts";
import { iconOf, type Icon } from "./icons.ts";

/** What a mark says by its colour; the strokes in it say the same. */
export type Tone = "good" | "bad" | "warn" | "open" | "seen" | "none";

const looks: Readonly<Record<VerdictKind, readonly [Tone, Icon]>> = {
  passed: ["good", "check"],
  failed: ["bad", "cross"],
  warned: ["warn", "alert"],
  observed: ["seen", "ring"],
  pending: ["open", "dots"],
  "not-applicable": ["none", "dash"],
  "could-not-run": ["open", "slash"],
  inconclusive: ["open", "question"],
  "harness-error": ["bad", "hash"],
};

export const toneOf = (kind: VerdictKind): Tone => looks[kind][0];

/** A small mark for a verdict; a reader that cannot see it is told the word. */
export const mark = (kind: VerdictKind): VNode => toneMark(...looks[kind], wordOf(kind));

/** A mark of any tone; the word is for those who hear the page. */
export const toneMark = (tone: Tone, icon: Icon, word: string): VNode =>
  el("span", { class: `mark ${tone}` }, iconOf(icon), el("span", { class: "heard" }, `${word} `));
