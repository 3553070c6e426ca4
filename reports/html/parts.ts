import type { VNode } from "preact";
import { el, type Child } from "./element.ts";

/** Wider tables scroll sideways on a phone; narrower ones fit. */
const stacks = (columns: number, rows: number): boolean => columns > 2 && columns < 9 && rows <= 100;

/**
 * A table that scrolls sideways within its own box on a narrow page. On a phone, a table of few columns becomes a list
 * with each value under its column's title.
 */
export const table = (
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly Child[])[],
  numeric: readonly number[] = [],
): VNode => {
  const isStacked = stacks(heads.length, rows.length);
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    el(
      "table",
      isStacked ? { class: "stacks" } : {},
      el("caption", { class: "heard" }, caption),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          heads.map((head, at) => el("th", { scope: "col", class: side(at, numeric) }, head)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((cells) =>
          el(
            "tr",
            {},
            cells.map((cell, at) =>
              el(
                at === 0 ? "th" : "td",
                {
                  scope: at === 0 ? "row" : undefined,
                  class: side(at, numeric),
                  "data-head": isStacked ? heads[at] : undefined,
                },
                cell,
              ),
            ),
          ),
        ),
      ),
    ),
  );
};

const side = (at: number, numeric: readonly number[]): string | undefined =>
  numeric.includes(at) ? "number" : undefined;

export const facts = (
  entries: readonly (readonly [name: string, value: Child] | undefined)[],
  className = "facts",
): VNode =>
  el(
    "dl",
    { class: className },
    entries.flatMap((entry) =>
      entry === undefined ? [] : [el("div", {}, el("dt", {}, entry[0]), el("dd", {}, entry[1]))],
    ),
  );

export const command = (text: string): VNode =>
  el(
    "div",
    { class: "command" },
    el("code", {}, text),
    el("button", { type: "button", class: "copy", hidden: true, "data-copy": text }, "Copy"),
  );

export const figure = (options: {
  readonly title: string;
  readonly note?: Child;
  readonly legend?: readonly (readonly [keyClass: string, words: string])[];
  readonly picture: Child;
  readonly table?: VNode;
}): VNode =>
  el(
    "figure",
    {},
    el(
      "figcaption",
      {},
      el("h4", {}, options.title),
      options.note !== undefined && el("p", { class: "soft" }, options.note),
      options.legend !== undefined &&
        el(
          "ul",
          { class: "legend" },
          options.legend.map(([keyClass, words]) =>
            el("li", {}, el("i", { class: `key ${keyClass}`, "aria-hidden": "true" }), words),
          ),
        ),
    ),
    options.picture,
    options.table !== undefined &&
      el("details", { class: "figures" }, el("summary", {}, `Figures of “${options.title}”`), options.table),
  );

export const link = (id: string, ...children: readonly Child[]): VNode =>
  el("a", { href: `#${id}` }, ...children);
