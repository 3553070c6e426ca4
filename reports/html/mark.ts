import type { VNode } from "preact";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { lookOf } from "../document/looks.ts";
import { wordOf } from "../text/verdicts.ts";
import { el } from "./element.ts";
import type { Icon, Tone } from "../document/model.ts";
import { iconOf } from "./icons.ts";

export const toneOf = (kind: VerdictKind): Tone => lookOf[kind][0];

export const mark = (kind: VerdictKind): VNode => toneMark(...lookOf[kind], wordOf(kind));

export const toneMark = (tone: Tone, icon: Icon, word: string): VNode =>
  el("span", { class: `mark ${tone}` }, iconOf(icon), el("span", { class: "heard" }, `${word} `));
