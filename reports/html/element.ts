import { h, isValidElement, type ComponentChild, type VNode } from "preact";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import { type Icon, type Tone, lookOf } from "../document/model.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { wordOf } from "../text/verdicts.ts";

export type Child = VNode | string | number | false | undefined | readonly Child[];

export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

const childOf = (child: Child): ComponentChild => {
  if (typeof child === "string") return inert(child);
  if (typeof child === "object" && "map" in child) return child.map(childOf);
  return child;
};

const isAttributes = (given: Attributes | Child): given is Attributes =>
  typeof given === "object" && !Array.isArray(given) && !isValidElement(given);

/**
 * An element of the page, from a selector such as `p.soft`, its other attributes if it has any, and its children. All
 * text and attribute values pass through `inert` here and are escaped by the renderer, so that a service's answers are
 * displayed and never executed.
 */
export const el = (selector: string, ...given: readonly [Attributes | Child, ...Child[]] | []): VNode => {
  const [tag = "", ...classes] = selector.split(".");
  const [first, ...rest] = given;
  const [attributes, children] = isAttributes(first) ? [first, rest] : [{}, [first, ...rest]];
  const props: Record<string, string | number | true> = {};
  const all = classes.length === 0 ? attributes : { class: classes.join(" "), ...attributes };
  for (const [name, value] of Object.entries<Attributes[string]>(all))
    if (value !== undefined && value !== false)
      props[name] = typeof value === "string" ? inert(value) : value;
  return h(tag, props, ...children.map(childOf));
};

export const link = (id: string, ...children: readonly Child[]): VNode =>
  el("a", { href: `#${id}` }, ...children);

/**
 * A text that is safe anywhere in the page: control characters, bidirectional and invisible characters and lone
 * surrogates are shown escaped; line ends and tabs stay.
 */
const inert = (text: string): string =>
  text.includes("\n") || text.includes("\t") ? text.replaceAll(/[^\n\t]+/g, harmless) : harmless(text);

/** Icons as strokes in a box of 16 by 16, because fonts may lack the characters. */
const strokes: Readonly<Record<Icon, string>> = {
  check: "M4.2 8.4 7 11.2 12 5.2",
  cross: "M5 5l6 6M11 5l-6 6",
  alert: "M8 4v4.6M8 11.7v.1",
  ring: "M8 5.2a2.8 2.8 0 1 0 .01 0",
  dots: "M4.6 8h.01M8 8h.01M11.4 8h.01",
  dash: "M4.8 8h6.4",
  slash: "M5.2 10.8l5.6-5.6",
  question: "M5.9 6.3a2.1 2.1 0 1 1 3.1 1.8c-.7.4-1 .8-1 1.4M8 12v.1",
  hash: "M6.6 4 5.6 12M10.4 4l-1 8M4.6 6.6h7.2M4.2 9.4h7.2",
  unequal: "M4.6 6.4h6.8M4.6 9.6h6.8M10 4.4 6 11.6",
};

const idOf = (icon: Icon): string => `icon-${icon}`;

export const iconSheet = (): VNode =>
  el(
    "svg.sheet",
    { width: 0, height: 0, "aria-hidden": "true" },
    (Object.keys(strokes) as Icon[]).map((icon) =>
      el("symbol", { id: idOf(icon), viewBox: "0 0 16 16" }, el("path", { d: strokes[icon] })),
    ),
  );

const iconOf = (icon: Icon): VNode =>
  el("svg.icon", { viewBox: "0 0 16 16", "aria-hidden": "true" }, el("use", { href: `#${idOf(icon)}` }));

export const mark = (kind: VerdictKind): VNode => toneMark(...lookOf[kind], wordOf(kind));

export const toneMark = (tone: Tone, icon: Icon, word: string): VNode =>
  el("span", { class: `mark ${tone}` }, iconOf(icon), el("span.heard", `${word} `));
