import type { ExchangeRecord, Outcome } from "../../conformance/contract/record.ts";
import type { VerdictKind } from "../../conformance/contract/verdict.ts";
import { sparkline } from "../text/figures.ts";
import type { Picture } from "./pictures.ts";

/*
 * A report as data. One function per kind of report decides what it says; the renderers for terminal, HTML and Markdown
 * decide how it looks. Texts are raw: each renderer escapes them for its medium.
 */

/** The meaning of a mark's colour; its icon says the same. */
export type Tone = "good" | "bad" | "warn" | "open" | "seen" | "none";
export type Icon =
  | "check"
  | "cross"
  | "alert"
  | "ring"
  | "dots"
  | "dash"
  | "slash"
  | "question"
  | "hash"
  | "unequal";
export type Look = readonly [tone: Tone, icon: Icon];

export type Text = string | Span | readonly Text[];
export type Span =
  | { readonly is: "strong" | "soft" | "code"; readonly text: Text }
  | {
      readonly is: "mark";
      readonly look: Look;
      readonly text: Text;
      /** For screen readers. */ readonly word?: string | undefined;
    }
  /** A link within the same document. */
  | { readonly is: "link"; readonly to: string; readonly text: Text }
  /** A link to a file beside the document. */
  | { readonly is: "file"; readonly name: string; readonly text: Text }
  /** Several texts in one cell, one below the other. */
  | { readonly is: "lines"; readonly lines: readonly Text[] }
  | Trend;

/** Values or verdicts of several runs, the earliest first, so small that they fit a cell. */
export interface Trend {
  readonly is: "trend";
  readonly values: readonly number[] | readonly Look[];
}

export interface Column {
  readonly title: string;
  readonly align?: "right";
}

export interface Table {
  readonly is: "table";
  readonly caption: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Text[])[];
}

export type Fact = readonly [name: string, value: Text];

/** A chart. HTML draws it; terminal and Markdown show `brief`, or the table if there is none, or leave it out. */
export interface Figure {
  readonly is: "figure";
  readonly title: string;
  readonly note?: Text;
  /** What the drawing itself shows, such as its axis: only for those who see it. */
  readonly drawn?: Text;
  readonly legend?: readonly (readonly [key: string, words: string])[] | undefined;
  readonly picture: Picture;
  readonly table?: Table | undefined;
  readonly brief?: readonly Text[];
  /** HTML shows the table below the chart instead of unfolding it on demand. */
  readonly open?: boolean;
}

export type Block =
  | { readonly is: "text"; readonly text: Text; readonly look?: "soft" | "note" }
  | { readonly is: "heading"; readonly text: string }
  | { readonly is: "facts"; readonly facts: readonly Fact[] }
  | { readonly is: "list"; readonly items: readonly Text[] }
  | { readonly is: "callout"; readonly title: string; readonly blocks: readonly Block[] }
  /** Further details: HTML and Markdown unfold them on demand, a terminal only mentions them. */
  | { readonly is: "fold"; readonly summary: string; readonly blocks: readonly Block[] }
  | { readonly is: "command"; readonly command: string }
  | Card
  | Rules
  | Exchanges
  | Table
  | Figure;

export interface Card {
  readonly is: "card";
  readonly tone?: "failed" | "warned" | undefined;
  readonly id?: string;
  readonly header: Text;
  readonly beside?: string;
  readonly promise?: string;
  readonly blocks: readonly Block[];
}

/** All rules by section of the document. HTML unfolds each to its blocks. */
export interface Rules {
  readonly is: "rules";
  /** Whether a terminal has a line for each rule rather than for each group. */
  readonly isLong: boolean;
  readonly groups: readonly RuleGroup[];
}

export interface RuleGroup {
  readonly title: string;
  readonly rules: readonly RuleEntry[];
}

export interface RuleEntry {
  readonly anchor: string;
  readonly id: string;
  readonly kind: VerdictKind;
  readonly level: string;
  readonly sentence: string;
  readonly cases: number;
  readonly durationMs: number;
  readonly blocks: readonly Block[];
}

export interface Exchanges {
  readonly is: "exchanges";
  readonly shown: readonly ExchangeRecord[];
  readonly count: number;
  readonly where: string;
  /** Where the exchanges were sent, for curl lines that repeat them. */
  readonly baseUrl?: string | undefined;
  /** How long after the first of a proof the later ones were sent, by number and on the service's clock: "+10 min". */
  readonly later?: ReadonlyMap<number, string>;
  /** Headers named in this text are shown even when space is short. */
  readonly about: string;
}

export interface Section {
  readonly id: string;
  readonly title: string;
  readonly blocks: readonly Block[];
}

export interface Doc {
  readonly title: string;
  readonly look: Look;
  readonly headline: string;
  readonly detail: Text;
  /** What readers must know before they believe the headline. */
  readonly before: readonly Block[];
  readonly about: readonly Fact[];
  readonly after: readonly Block[];
  readonly sections: readonly Section[];
  readonly source: string;
}

/** One of several documents of a report. */
export interface Chapter {
  readonly title: string;
  readonly prefix: string;
  readonly document: Doc;
}

type Optional<T> = T | false | undefined;

/** The items that are present. */
export const given = <T>(items: readonly Optional<T>[]): readonly T[] =>
  items.filter((item): item is T => item !== false && item !== undefined);

/** A document without its empty parts; the prefix makes the ids of its sections unique on a page of several. */
export const doc = ({
  prefix = "",
  sections,
  ...parts
}: Pick<Doc, "title" | "look" | "headline" | "source"> & {
  readonly prefix?: string;
  readonly detail?: Text;
  readonly before?: readonly Optional<Block>[];
  readonly about?: readonly Optional<Fact>[];
  readonly after?: readonly Optional<Block>[];
  readonly sections: readonly Optional<Section>[];
}): Doc => ({
  detail: "",
  ...parts,
  before: given(parts.before ?? []),
  about: given(parts.about ?? []),
  after: given(parts.after ?? []),
  sections: given(sections)
    .filter(({ blocks }) => blocks.length > 0)
    .map((one) => ({ ...one, id: `${prefix}${one.id}` })),
});

export const section = (id: string, title: string, ...blocks: readonly Optional<Block>[]): Section => ({
  id,
  title,
  blocks: given(blocks),
});

export const strong = (text: Text): Span => ({ is: "strong", text });
export const soft = (text: Text): Span => ({ is: "soft", text });
export const code = (text: string): Span => ({ is: "code", text });
export const lines = (...all: readonly Optional<Text>[]): Span => ({ is: "lines", lines: given(all) });
export const link = (to: string, text: Text): Span => ({ is: "link", to, text });
export const file = (name: string, text: Text): Span => ({ is: "file", name, text });
export const mark = (look: Look, text: Text, word?: string): Span => ({ is: "mark", look, text, word });

export const text = (...parts: readonly Text[]): Block => ({ is: "text", text: parts });
export const softText = (...parts: readonly Text[]): Block => ({ is: "text", text: parts, look: "soft" });
export const note = (...parts: readonly Text[]): Block => ({ is: "text", text: parts, look: "note" });
export const facts = (entries: readonly Optional<Fact>[]): Block => ({ is: "facts", facts: given(entries) });
export const list = (items: readonly Text[]): Block | false => items.length > 0 && { is: "list", items };
export const callout = (title: string, ...blocks: readonly Optional<Block>[]): Block => ({
  is: "callout",
  title,
  blocks: given(blocks),
});

/** A table of the columns that hold a value, or nothing if it has no rows. A column whose title begins with ">" is right-aligned. */
export const table = (
  caption: string,
  columns: readonly string[],
  some: readonly Optional<readonly Text[]>[],
): Table | undefined => {
  const rows = given(some);
  if (rows.length === 0) return undefined;
  const hasValue = (_: Text, at: number): boolean => rows.some((row) => (row[at] ?? "") !== "");
  const shown = columns
    .filter(hasValue)
    .map((title): Column => (title.startsWith(">") ? { title: title.slice(1), align: "right" } : { title }));
  return { is: "table", caption, columns: shown, rows: rows.map((row) => row.filter(hasValue)) };
};

/** A section with a single table, captioned with the section's title unless given another caption. */
export const tableSection = (
  id: string,
  title: string,
  columns: readonly string[],
  rows: Parameters<typeof table>[2],
  caption = title,
): Section => section(id, title, table(caption, columns, rows));

/** A section with a single list, whose title counts the items. */
export const listSection = (id: string, title: string, items: readonly Text[]): Section =>
  section(id, `${title} (${items.length})`, list(items));

export const figure = ({
  legend,
  ...parts
}: Omit<Figure, "is" | "legend"> & {
  readonly legend?: readonly Optional<NonNullable<Figure["legend"]>[number]>[];
}): Figure => ({ is: "figure", ...parts, legend: legend && given(legend) });

const isFigures = (values: Trend["values"]): values is readonly number[] =>
  values.every((value) => typeof value === "number");

/** A trend where nothing can be drawn: a line of bars, or of symbols. */
export const trendText = ({ values }: Trend): string =>
  isFigures(values)
    ? sparkline(values, values.length)
    : values.map((look) => (typeof look === "number" ? "" : symbolOfIcon[look[1]])).join("");

export const lookOf: Readonly<Record<VerdictKind, Look>> = {
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

const outcomeLooks: Readonly<Record<Outcome, Look>> = {
  passed: ["good", "check"],
  drifted: ["warn", "unequal"],
  interrupted: ["open", "dots"],
  incomplete: ["open", "question"],
  "harness-error": ["bad", "hash"],
  failed: ["bad", "cross"],
};

/** How an outcome looks; undefined is a run that was cut off. */
export const outcomeLook = (outcome: Outcome = "interrupted"): Look => outcomeLooks[outcome];

export const symbolOfIcon: Readonly<Record<Icon, string>> = {
  check: "✓",
  cross: "✗",
  alert: "!",
  ring: "○",
  dots: "…",
  dash: "–",
  slash: "–",
  question: "?",
  hash: "#",
  unequal: "≠",
};
