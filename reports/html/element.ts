import { h, isValidElement, type ComponentChild, type VNode } from "preact";
import { harmless } from "../../conformance/contract/harmless-text.ts";

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
