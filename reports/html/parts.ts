import type { Picture, PictureOf } from "../document/pictures.ts";
import { type Child, el, link, toneMark } from "./element.ts";
import { spreadPicture } from "./pictures/spread.ts";
import { lanes } from "./pictures/lanes.ts";
import { latencyPicture, ratePicture } from "./pictures/load.ts";
import { lifetimes, schedule } from "./pictures/gate.ts";
import type { VNode } from "preact";
import {
  trendText,
  type Exchanges,
  type Fact,
  type Figure,
  type Table,
  type Text,
  type Trend,
} from "../document/model.ts";
import { round } from "./chart.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { figure as number, plural } from "../text/figures.ts";
import { curlOf } from "../failures/har.ts";
import { cut } from "../../conformance/contract/text.ts";

export const textNode = (text: Text): Child => {
  if (typeof text === "string") return unbroken(text);
  if (!("is" in text)) return text.map(textNode);
  switch (text.is) {
    case "strong":
      return el("strong", textNode(text.text));
    case "soft":
      return el("span.soft", textNode(text.text));
    case "code":
      return el("code.wrap", textNode(text.text));
    case "mark":
      return el(
        "span",
        { class: isWord(text.text) ? "with-mark word" : "with-mark" },
        toneMark(...text.look, text.word ?? ""),
        textNode(text.text),
      );
    case "link":
      return link(text.to, textNode(text.text));
    case "file":
      return el("a", { href: text.name }, textNode(text.text));
    case "trend":
      return trend(text);
    default:
      return el(
        "ul.plain",
        text.lines.map((line) => el("li", textNode(line))),
      );
  }
};

const TREND = { width: 132, height: 22, step: 12 } as const;

/** A line of figures, or a dot for each verdict: fonts may lack the symbols. */
const trend = (one: Trend): VNode => {
  const { values } = one;
  const figures = values.flatMap((value) => (typeof value === "number" ? [value] : []));
  const [least, most] = [Math.min(...figures), Math.max(...figures)];
  const x = (at: number): number => 6 + at * Math.min(TREND.step, 120 / values.length);
  const y = (value: number): number =>
    most === least
      ? TREND.height / 2
      : TREND.height - 4 - ((value - least) / (most - least)) * (TREND.height - 8);
  const last = figures.at(-1);
  return el(
    "svg.trend",
    { width: TREND.width, height: TREND.height, role: "img", "aria-label": trendText(one) },
    last === undefined
      ? values.map((look, at) =>
          typeof look === "number"
            ? false
            : el("circle", {
                class: look[0],
                cx: x(at),
                cy: TREND.height / 2,
                r: look[0] === "good" ? 3 : 4.5,
              }),
        )
      : [
          el("polyline", {
            points: figures.map((value, at) => `${round(x(at))},${round(y(value))}`).join(" "),
          }),
          el("circle", { cx: x(figures.length - 1), cy: round(y(last)), r: 3 }),
        ],
  );
};

/** A flag such as --max-wait: browsers would break it after a hyphen. Longer ones may be a service's and have to break. */
const FLAG = /(?<![\w-])(--[a-z][a-z-]{1,28})(?![\w-])/;

const unbroken = (text: string): Child =>
  text.includes("--")
    ? text.split(FLAG).map((piece, at) => (at % 2 === 1 ? el("span", { class: "word" }, piece) : piece))
    : text;

/** Verdicts and short names in a table stay on one line; titles may wrap. */
const isWord = (text: Text): boolean =>
  typeof text === "string" ? text.length < 24 : !("is" in text) && text.length === 1 && isWord(text[0] ?? "");

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

export const figure = ({ title, note, drawn, legend, picture, table: all, open = false }: Figure): Child => [
  el(
    "figure",
    el(
      "figcaption",
      el("h3", title),
      (note !== undefined || drawn !== undefined) &&
        el(
          "p.soft",
          textNode(note ?? ""),
          note !== undefined && drawn !== undefined && " ",
          textNode(drawn ?? ""),
        ),
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
  lanes,
  latency: latencyPicture,
  lifetimes,
  rate: ratePicture,
  schedule,
  spread: spreadPicture,
};

export const draw = (picture: Picture): Child => (drawers[picture.is] as (one: Picture) => Child)(picture);

const LONGEST_BODY = 6_000;
const LONGEST_PATH = 300;

export const evidence = ({ shown, count, where, baseUrl, later }: Exchanges): Child => {
  const told = `${number(shown.length)} of ${plural(count, "exchange")} are shown here; ${where} has the others.`;
  const isTimed = shown.some(({ n }) => later?.has(n) === true);
  const all = shown.map((one) => exchange(one, baseUrl, isTimed ? (later?.get(one.n) ?? "") : undefined));
  return [
    el(isTimed ? "ol.exchanges.timed" : "ol.exchanges", all),
    shown.length < count && el("p.soft", told),
  ];
};

const exchange = (one: ExchangeRecord, baseUrl: string | undefined, later?: string): VNode => {
  const { n, request, answer, error, durationMs } = one;
  return el(
    "li",
    el(
      "details.exchange",
      el(
        "summary",
        el("span.nth", `#${n}`),
        later !== undefined &&
          el("span.moment.soft", { title: "after the first exchange, on the service's clock" }, later),
        el("b", request.method),
        el("code.path", cut(request.path, LONGEST_PATH)),
        el("span.status", answer === undefined ? "no answer" : String(answer.status)),
        el("span.soft.took", `${durationMs.toFixed(1)} ms`),
      ),
      el(
        "div.sides",
        side("Request", `${request.method} ${request.path}`, request.headers, request.body ?? ""),
        answer === undefined
          ? side("Answer", error ?? "no complete answer arrived", [], "")
          : side("Answer", String(answer.status), answer.headers, answer.text),
      ),
      // A push was sent by the service, so sending it there again would prove nothing.
      baseUrl !== undefined && one.isPush !== true && command(cut(curlOf(one, baseUrl), LONGEST_BODY)),
    ),
  );
};

const side = (
  title: string,
  first: string,
  headers: ExchangeRecord["request"]["headers"],
  body: string,
): VNode =>
  el(
    "div",
    el("h4", title),
    el(
      "pre",
      { tabindex: 0 },
      el("b", cut(first, LONGEST_BODY)),
      headers.map(([name, value]) => ["\n", el("span.soft", `${name}:`), ` ${value}`]),
      body !== "" && `\n\n${cut(body, LONGEST_BODY)}`,
    ),
  );
