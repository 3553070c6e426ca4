import {
  symbolOfIcon,
  lookOf,
  mark,
  soft,
  strong,
  table,
  type Block,
  type Card,
  type Doc,
  type Figure,
  type Section,
  type Text,
  type Exchanges,
  type RuleEntry,
  type Rules,
} from "../document/model.ts";
import { indent, fold, hang, widest, padStart } from "../text/layout.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";
import { fitted, narrowed, type Page } from "./palette.ts";
import { apart, factLines, paintOf, tableLines, textLines } from "./rich.ts";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { accessTokenHeader } from "../../conformance/contract/forms.ts";
import { elapsed, plural } from "../text/figures.ts";
import { wordOf } from "../text/verdicts.ts";
import { groupTable } from "../document/gate-rules.ts";

/** A report for a terminal, at most 120 columns wide; the verdict comes last, next to the prompt. */
export const renderTerminal = (document: Doc, options: Page): string => {
  const page = fitted(options);
  const { palette } = page;
  const paint = paintOf(document.look[0], palette);
  const headline = textLines(`${symbolOfIcon[document.look[1]]} ${document.headline}`, page).map(paint);
  const blocks = [
    ...document.before.map((block) => blockLines(block, page)),
    factLines(document.about, page),
    ...document.sections.map((section) => sectionLines(section, page)),
    [
      ...headline,
      ...textLines(soft(document.detail), page),
      ...document.after.flatMap((block) => blockLines(block, page)),
    ],
  ];
  return `${apart(blocks).join("\n")}\n`;
};

const sectionLines = ({ title, blocks }: Section, page: Page): string[] => [
  ...textLines(strong(title), page),
  ...indent(apart(blocks.map((block) => blockLines(block, narrowed(page, 2)))), 2),
];

export const blockLines = (block: Block, page: Page): string[] => {
  const { palette } = page;
  switch (block.is) {
    case "text":
      return textLines(block.look === "soft" ? soft(block.text) : block.text, page).map(
        block.look === "note" ? palette.yellow : (line) => line,
      );
    case "heading":
      return textLines(strong(block.text), page);
    case "facts":
      return factLines(block.facts, page);
    case "list":
      return block.items.flatMap((item) => {
        const [first = "", ...rest] = textLines(item, narrowed(page, 2));
        return [beginsWithMark(item) ? first : `- ${first}`, ...indent(rest, 2)];
      });
    case "callout":
      return [
        ...textLines(block.title, page).map(palette.yellow),
        ...indent(apart(block.blocks.map((one) => blockLines(one, narrowed(page, 2)))), 2),
      ];
    case "fold":
      return textLines(soft(block.summary), page);
    case "command":
      return [palette.cyan(harmless(block.command))];
    case "card":
      return cardLines(block, page);
    case "rules":
      return rulesLines(block, page);
    case "exchanges":
      return exchangeLines(block, page);
    case "table":
      return tableLines(block, page);
    default:
      return figureLines(block, page);
  }
};

/** A mark replaces the dash of an item. */
const beginsWithMark = (item: Text): boolean => {
  if (typeof item === "string") return false;
  const first = "is" in item ? (item.is === "lines" ? item.lines[0] : undefined) : item[0];
  return first === undefined ? "is" in item && item.is === "mark" : beginsWithMark(first);
};

const cardLines = ({ header, beside, promise = "", blocks }: Card, page: Page): string[] => {
  const inner = narrowed(page, 2);
  const below = [...textLines(promise, inner), ...blocks.flatMap((block) => blockLines(block, inner))];
  return [
    ...textLines(beside === undefined ? header : [header, "  ", soft(beside)], page),
    ...indent(below, 2),
  ];
};

const figureLines = ({ title, note = "", brief, table: shown }: Figure, page: Page): string[] => {
  const said =
    brief?.flatMap((line) => textLines(line, page)) ?? (shown === undefined ? [] : tableLines(shown, page));
  return said.length === 0
    ? []
    : [...textLines(strong(title), page), ...textLines(soft(note), page), ...said];
};

type Headers = ExchangeRecord["request"]["headers"];

const FIRST = 3;
const LAST = 5;
const LINES = 3;

/** Headers omitted from a history unless the breach mentions them. */
const usualTypes = /^application\/json\b/i;

/**
 * Exchanges as numbered requests with their answers, a few lines each. For a long history, the first and last are
 * shown, with their numbers from exchanges.jsonl, which has all of them. Headers that `about` names are shown.
 */
const history = ({ shown, about, later }: Exchanges, page: Page): string[] => {
  const numbers = shown.map(({ n }) => `#${n}`);
  const margin = widest(numbers);
  const lines = shown.map((exchange, at) => {
    const [first = "", ...rest] = oneExchange(
      exchange,
      { about, later: later?.get(exchange.n) },
      narrowed(page, margin + 2),
    );
    return [
      `${page.palette.dim(padStart(numbers[at] ?? "", margin))}  ${first}`,
      ...indent(rest, margin + 2),
    ];
  });
  const omitted = lines.length - FIRST - LAST;
  if (omitted < 2) return lines.flat();
  return [
    ...lines.slice(0, FIRST).flat(),
    page.palette.dim(`${" ".repeat(margin)}  … ${omitted} exchanges omitted`),
    ...lines.slice(-LAST).flat(),
  ];
};

const oneExchange = (
  { request, answer, error }: ExchangeRecord,
  { about, later }: { readonly about: string; readonly later: string | undefined },
  { palette, columns }: Page,
): string[] => {
  const data = (text: string): string[] => indent(fold(harmless(text), columns - 2, LINES), 2);
  const headers = (list: Headers): string[] =>
    list.filter((header) => isTelling(header, about)).flatMap(([name, value]) => data(`${name}: ${value}`));
  const answered = ({ status, headers: given, text }: NonNullable<typeof answer>): string[] => {
    const told = headers(given);
    if (text === "") return [`→ ${status} with an empty body`, ...told];
    if (told.length > 0) return [`→ ${status}`, ...told, ...data(text)];
    return hang(`→ ${status} ${harmless(text)}`, columns, LINES);
  };
  return [
    ...hang(
      harmless(`${later === undefined ? "" : `${later}  `}${request.method} ${request.path}`),
      columns,
      LINES,
    ),
    ...headers(request.headers),
    ...(request.body === undefined || request.body === "" ? [] : data(request.body)),
    ...(answer === undefined
      ? hang(`→ no complete answer: ${harmless(error ?? "unknown")}`, columns, LINES).map(palette.red)
      : answered(answer)),
  ];
};

const always = new Set(["location", "retry-after", accessTokenHeader]);

const isTelling = ([name, value]: Headers[number], about: string): boolean => {
  const lower = name.toLowerCase();
  if (lower === "content-type") return !usualTypes.test(value);
  return always.has(lower) || about.toLowerCase().includes(lower.length < 5 ? `${lower}:` : lower);
};

const exchangeLines = (exchanges: Exchanges, page: Page): string[] => {
  const { shown, count, where } = exchanges;
  const told = `${shown.length} of ${count} exchanges are shown here; ${where} has the others`;
  const more = shown.length < count ? textLines(soft(told), page) : [];
  return [...history(exchanges, page), ...more];
};

const rulesLines = ({ isLong, groups }: Rules, page: Page): string[] => {
  if (!isLong) {
    const counts = groupTable(groups);
    return counts === undefined ? [] : tableLines(counts, page);
  }
  const width = Math.max(...groups.flatMap(({ rules }) => rules.map(({ id }) => harmless(id).length)));
  return apart(
    groups.map(({ title, rules }) => {
      const rows = table(
        "",
        ["", "", ">", ">"],
        rules.map((rule) => cellsOf(rule, width)),
      );
      return [page.palette.bold(title), ...(rows === undefined ? [] : tableLines(rows, page))];
    }),
  );
};

const cellsOf = ({ id, kind, cases, durationMs }: RuleEntry, width: number): readonly Text[] => [
  mark(lookOf[kind], [id.padEnd(width)]),
  wordOf(kind),
  soft(cases === 0 ? "" : plural(cases, "case")),
  soft(elapsed(durationMs)),
];
