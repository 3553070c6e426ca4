import {
  symbolOfIcon,
  trendText,
  type Fact,
  type Span,
  type Table,
  type Text,
  type Tone,
} from "../document/model.ts";
import { fold, indent, padEnd, padStart, widest, width, wrap } from "../text/layout.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import { narrowed, same, type Page, type Paint, type Palette } from "./palette.ts";

export const apart = (blocks: readonly (readonly string[])[]): string[] =>
  blocks.filter((lines) => lines.length > 0).flatMap((lines, at) => (at === 0 ? [...lines] : ["", ...lines]));

export const factLines = (facts: readonly Fact[], page: Page): string[] => {
  const names = facts.map(([name]) => harmless(name));
  const nameWidth = Math.min(Math.floor(page.columns / 3), widest(names));
  return facts.flatMap(([, value], at) => {
    const name = names[at] ?? "";
    const lines = textLines(value, narrowed(page, nameWidth + 2));
    const beside = width(name) <= nameWidth ? lines : ["", ...lines];
    return beside.map((line, row) =>
      `${padEnd(row === 0 ? page.palette.dim(name) : "", nameWidth)}  ${line}`.trimEnd(),
    );
  });
};

const LEAST_COLUMN = 16;
const MOST_ROWS = 60;

interface Sized {
  readonly at: number;
  readonly head: string;
  readonly isRight: boolean;
  readonly width: number;
}

/**
 * A table as wide as its cells. If the page is too narrow, the widest left-aligned column wraps; if that is not enough,
 * each row becomes a list of named cells. Without titles, there is no line for them.
 */
export const tableLines = (table: Table, page: Page): string[] => {
  const rows = table.rows.slice(0, MOST_ROWS);
  const left = table.rows.length - rows.length;
  const more = left === 0 ? [] : [page.palette.dim(`… ${left} more rows; --report and --json have them`)];
  const columns = fittedColumns({ ...table, rows }, page);
  if (columns === undefined)
    return [...recordLines(sizedColumns({ ...table, rows }, page), rows, page), ...more];
  const heads = columns.map(({ head, width: most }) => wrap(head, most).map(page.palette.dim));
  return [
    ...(columns.every(({ head }) => head === "") ? [] : rowLines(heads, columns)),
    ...rows.flatMap((row) =>
      rowLines(
        columns.map(({ at, width: most }) => textLines(row[at] ?? "", { ...page, columns: most })),
        columns,
      ),
    ),
    ...more,
  ];
};

/** Columns that fit the page: first their titles wrap, then the widest column; undefined if that is not enough. */
const fittedColumns = (table: Table, page: Page): readonly Sized[] | undefined => {
  const excessOf = (columns: readonly Sized[]): number =>
    columns.reduce((sum, one) => sum + one.width + 2, -2) - page.columns;
  const narrow = sizedColumns(table, page);
  const natural = narrow.map((one) => ({ ...one, width: Math.max(one.width, width(one.head)) }));
  if (excessOf(natural) <= 0) return natural;
  const excess = excessOf(narrow);
  if (excess <= 0) return narrow;
  const flexible = narrow.filter(({ isRight }) => !isRight).toSorted((a, b) => b.width - a.width)[0];
  const room = (flexible?.width ?? 0) - excess;
  return room < LEAST_COLUMN
    ? undefined
    : narrow.map((one) => (one === flexible ? { ...one, width: room } : one));
};

/** Columns as wide as their cells and the longest words of their titles. */
const sizedColumns = ({ columns, rows }: Table, page: Page): readonly Sized[] =>
  columns.map(({ title, align }, at) => {
    const head = harmless(title);
    const cells = rows.flatMap((row) => textLines(row[at] ?? "", { ...page, columns: Infinity }));
    return { at, head, isRight: align === "right", width: widest([...head.split(" "), ...cells]) };
  });

const rowLines = (cells: readonly (readonly string[])[], columns: readonly Sized[]): string[] =>
  Array.from({ length: Math.max(1, ...cells.map((cell) => cell.length)) }, (_, line) =>
    cells
      .map((cell, at) =>
        columns[at]?.isRight === true
          ? padStart(cell[line] ?? "", columns[at].width)
          : padEnd(cell[line] ?? "", columns[at]?.width ?? 0),
      )
      .join("  ")
      .trimEnd(),
  );

const recordLines = (columns: readonly Sized[], rows: Table["rows"], page: Page): string[] =>
  apart(
    rows.map((row) => {
      const [first, ...rest] = columns;
      const facts = rest.map(({ at, head }): Fact => [head, row[at] ?? ""]);
      return [
        ...textLines(row[first?.at ?? 0] ?? "", page),
        ...indent(factLines(facts, narrowed(page, 2)), 2),
      ];
    }),
  );

const paintNames: Readonly<Record<Tone, keyof Palette>> = {
  good: "green",
  bad: "red",
  warn: "yellow",
  open: "yellow",
  seen: "cyan",
  none: "dim",
};

export const paintOf = (tone: Tone, palette: Palette): Paint => palette[paintNames[tone]];

interface Run {
  readonly text: string;
  readonly paint: Paint;
}

const MOST_LINES = 12;

/** A coloured text in lines no wider than the page. Long data is folded. */
export const textLines = (text: Text, page: Page): string[] => {
  if (isSpan(text) && text.is === "lines") return text.lines.flatMap((line) => textLines(line, page));
  const runs = runsOf(text, page.palette, same);
  const plain = runs.map((run) => run.text).join("");
  if (plain === "") return [];
  const isData = isSpan(text) && text.is === "code";
  const lines = isData ? fold(plain, page.columns, MOST_LINES) : wrap(plain, page.columns);
  return coloured(lines, runs, plain);
};

const isSpan = (text: Text): text is Span => typeof text === "object" && "is" in text;

const runsOf = (text: Text, palette: Palette, paint: Paint): readonly Run[] => {
  if (typeof text === "string") return text === "" ? [] : [{ text: harmless(text), paint }];
  if (!isSpan(text)) return text.flatMap((part) => runsOf(part, palette, paint));
  const within =
    (more: Paint): Paint =>
    (one) =>
      paint(more(one));
  switch (text.is) {
    case "strong":
      return runsOf(text.text, palette, within(palette.bold));
    case "soft":
      return runsOf(text.text, palette, within(palette.dim));
    case "mark": {
      const tone = paintOf(text.look[0], palette);
      return [
        { text: `${symbolOfIcon[text.look[1]]} `, paint: tone },
        ...runsOf(text.text, palette, typeof text.text === "string" ? within(tone) : paint),
      ];
    }
    case "lines":
      return text.lines.flatMap((line, at) => [
        ...(at === 0 ? [] : [{ text: " · ", paint }]),
        ...runsOf(line, palette, paint),
      ]);
    case "trend":
      return [{ text: trendText(text), paint }];
    default:
      return runsOf(text.text, palette, paint);
  }
};

/** Wrapped lines of a plain text with the colours of its runs restored. */
const coloured = (lines: readonly string[], runs: readonly Run[], plain: string): string[] => {
  let cursor = 0;
  return lines.map((line) => {
    const from = plain.indexOf(line, cursor);
    if (from < 0) return line;
    const to = from + line.length;
    cursor = to;
    let start = 0;
    return runs
      .map(({ text, paint }) => {
        const piece = text.slice(Math.max(0, from - start), Math.max(0, to - start));
        start += text.length;
        return piece === "" ? "" : paint(piece);
      })
      .join("");
  });
};
