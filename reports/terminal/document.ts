import { symbolOfIcon } from "../document/looks.ts";
import type { Block, Card, Doc, Figure, Section, Text } from "../document/model.ts";
import { indent } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { exchangeLines } from "./exchanges.ts";
import { fitted, narrowed, type Page } from "./palette.ts";
import { apart, factLines, paintOf, tableLines, textLines } from "./rich.ts";
import { rulesLines } from "./rules-lines.ts";

/** A report for a terminal, at most 100 columns wide; the verdict comes last, next to the prompt. */
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
      ...textLines({ is: "soft", text: document.detail }, page),
      ...document.after.flatMap((block) => blockLines(block, page)),
    ],
  ];
  return `${apart(blocks).join("\n")}\n`;
};

const sectionLines = ({ title, blocks }: Section, page: Page): string[] => [
  page.palette.bold(safe(title)),
  ...indent(apart(blocks.map((block) => blockLines(block, narrowed(page, 2)))), 2),
];

export const blockLines = (block: Block, page: Page): string[] => {
  const { palette } = page;
  switch (block.is) {
    case "text":
      return textLines(block.look === "soft" ? { is: "soft", text: block.text } : block.text, page).map(
        block.look === "note" ? palette.yellow : (line) => line,
      );
    case "heading":
      return [palette.bold(safe(block.text))];
    case "facts":
      return factLines(block.facts, page);
    case "list":
      return block.items.flatMap((item) => {
        const [first = "", ...rest] = textLines(item, narrowed(page, 2));
        return [beginsWithMark(item) ? first : `- ${first}`, ...indent(rest, 2)];
      });
    case "callout":
      return [
        palette.yellow(safe(block.title)),
        ...indent(apart(block.blocks.map((one) => blockLines(one, narrowed(page, 2)))), 2),
      ];
    case "command":
      return [palette.cyan(safe(block.command))];
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

/** A mark stands in place of the dash of an item. */
const beginsWithMark = (item: Text): boolean => {
  if (typeof item === "string") return false;
  const first = "is" in item ? (item.is === "lines" ? item.lines[0] : undefined) : item[0];
  return first === undefined ? "is" in item && item.is === "mark" : beginsWithMark(first);
};

const cardLines = ({ header, beside, promise, blocks }: Card, page: Page): string[] => [
  ...textLines(
    [header, ...(beside === undefined ? [] : ["  ", { is: "soft", text: beside } as const])],
    page,
  ),
  ...indent(promise === undefined ? [] : textLines(promise, narrowed(page, 2)), 2),
  ...indent(
    blocks.flatMap((block) => blockLines(block, narrowed(page, 2))),
    2,
  ),
];

const figureLines = ({ title, note, brief, table }: Figure, page: Page): string[] => [
  page.palette.bold(safe(title)),
  ...(note === undefined ? [] : textLines({ is: "soft", text: note }, page)),
  ...(brief === undefined
    ? table === undefined
      ? []
      : tableLines(table, page)
    : brief.flatMap((line) => textLines(line, page))),
];
