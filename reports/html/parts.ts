import type { Picture, PictureOf } from "../document/pictures.ts";
import { type Child, el } from "./element.ts";
import { densities } from "./pictures/densities.ts";
import { lanes } from "./pictures/lanes.ts";
import { latencyPicture } from "./pictures/latency.ts";
import { lifetimes } from "./pictures/lifetimes.ts";
import { pairs } from "./pictures/pairs.ts";
import { ratePicture } from "./pictures/rate.ts";
import { schedule } from "./pictures/schedule.ts";
import { spreadPicture } from "./pictures/spread.ts";
import type { VNode } from "preact";
import type { Fact, Figure, Table, Text } from "../document/model.ts";
import { textNode } from "./text.ts";

/** Wider tables scroll sideways on a phone; narrower ones fit. */
const stacks = (columns: number, rows: number): boolean => columns > 2 && columns < 9 && rows <= 100;

/**
 * A table that scrolls sideways within its own box on a narrow page. On a phone, a table of few columns becomes a list
 * with each value under its column's title.
 */
export const table = ({ caption, columns, rows }: Table): VNode => {
  const isStacked = stacks(columns.length, rows.length);
  const alignment = (at: number) => columns[at]?.align && "number";
  // A row without a head continues the one above. That is seen, and has to be said to those who hear the page.
  const headOf = (row: number): Child =>
    el("span.heard", textNode(rows.slice(0, row).findLast(([head]) => head !== "")?.[0] ?? ""));
  const cellOf = (cell: Text, at: number, row: number): VNode =>
    el(
      at === 0 ? "th" : "td",
      {
        scope: at === 0 ? "row" : undefined,
        class: alignment(at),
        "data-head": isStacked ? columns[at]?.title : undefined,
      },
      at === 0 && cell === "" ? headOf(row) : textNode(cell),
    );
  const heads = columns.map(({ title }, at) => el("th", { scope: "col", class: alignment(at) }, title));
  const body = rows.map((cells, row) =>
    el(
      "tr",
      cells.map((cell, at) => cellOf(cell, at, row)),
    ),
  );
  return el(
    "div.scroll",
    { tabindex: 0, role: "region", "aria-label": `Table: ${caption}` },
    el(
      isStacked ? "table.stacks" : "table",
      el("caption.heard", caption),
      el("thead", el("tr", heads)),
      el("tbody", body),
    ),
  );
};

export const facts = (entries: readonly Fact[], className = "facts"): Child =>
  entries.length > 0 &&
  el(
    `dl.${className}`,
    entries.map(([name, value]) => el("div", el("dt", name), el("dd", textNode(value)))),
  );

export const command = (text: string): VNode =>
  el(
    "div.command",
    el("code", text),
    el("button", { type: "button", class: "copy", hidden: true, "data-copy": text }, "Copy"),
  );

export const figure = ({ title, note, legend, picture, table: all, open = false }: Figure): Child => [
  el(
    "figure",
    el(
      "figcaption",
      el("h3", title),
      note !== undefined && el("p.soft", textNode(note)),
      legend !== undefined &&
        el(
          "ul.legend",
          legend.map(([look, words]) =>
            el("li", el("i", { class: `key ${look}`, "aria-hidden": "true" }), words),
          ),
        ),
    ),
    draw(picture),
    all !== undefined && !open && el("details.figures", el("summary", `Values of “${title}”`), table(all)),
  ),
  open && all !== undefined && table(all),
];

const drawers: { readonly [Kind in Picture["is"]]: (picture: PictureOf<Kind>) => Child } = {
  densities,
  lanes,
  latency: latencyPicture,
  lifetimes,
  pairs,
  rate: ratePicture,
  schedule,
  spread: spreadPicture,
};

export const draw = (picture: Picture): Child => (drawers[picture.is] as (one: Picture) => Child)(picture);
