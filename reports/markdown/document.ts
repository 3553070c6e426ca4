import type { Block, Doc, Fact, Figure, Section, Table, Text } from "../document/model.ts";
import { lookOf, symbolOfIcon } from "../document/looks.ts";
import { wordOf } from "../text/verdicts.ts";
import { codeMarkdown, inertMarkdown } from "./inert.ts";

/** A document in Markdown, for places that show it: summaries of jobs, pull requests, wikis. */
export const renderMarkdownDocument = (document: Doc): string =>
  `${[
    `# ${symbolOfIcon[document.look[1]]} ${inertMarkdown(document.headline)}`,
    ...document.before.map(blockText),
    textOf(document.detail),
    factsText(document.about),
    ...document.after.map(blockText),
    ...document.sections.map(sectionText),
    `<sub>Written by Touchstone from ${inertMarkdown(document.source)}.</sub>`,
  ]
    .filter((part) => part !== "")
    .join("\n\n")}\n`;

const sectionText = ({ title, blocks }: Section): string =>
  [`## ${inertMarkdown(title)}`, ...blocks.map(blockText)].filter((part) => part !== "").join("\n\n");

const blockText = (block: Block): string => {
  switch (block.is) {
    case "text":
      return block.look === "note" ? `> ${textOf(block.text)}` : textOf(block.text);
    case "heading":
      return `### ${inertMarkdown(block.text)}`;
    case "facts":
      return factsText(block.facts);
    case "list":
      return block.items.map((item) => `- ${textOf(item)}`).join("\n");
    case "callout":
      return [`> **${inertMarkdown(block.title)}**`, ...block.blocks.map(blockText)].join("\n\n");
    case "command":
      return codeMarkdown(block.command);
    case "card":
      return [
        `### ${textOf(block.header)}${block.beside === undefined ? "" : ` · ${inertMarkdown(block.beside)}`}`,
        ...(block.promise === undefined ? [] : [inertMarkdown(block.promise)]),
        ...block.blocks.map(blockText),
      ].join("\n\n");
    case "rules":
      return block.groups
        .map(({ title, rules }) =>
          unfolding(
            `${title}: ${rules.length}`,
            rules
              .map(
                ({ id, kind, cases }) =>
                  `- ${symbolOfIcon[lookOf[kind][1]]} ${codeMarkdown(id)} ${wordOf(kind)}, ${cases} cases`,
              )
              .join("\n"),
          ),
        )
        .join("\n");
    case "exchanges":
      return unfolding(
        `${block.shown.length} of ${block.count} exchanges`,
        block.shown
          .map(({ n, request, answer, error }) =>
            codeMarkdown(
              `#${n} ${request.method} ${request.path}${request.body === undefined ? "" : ` ${request.body}`} → ${answer === undefined ? (error ?? "no whole answer") : `${answer.status} ${answer.text}`}`,
            ),
          )
          .join("<br>\n"),
      );
    case "table":
      return tableText(block);
    default:
      return figureText(block);
  }
};

const factsText = (facts: readonly Fact[]): string =>
  facts.map(([name, value]) => `- **${inertMarkdown(name)}**: ${textOf(value)}`).join("\n");

const figureText = ({ title, note, brief, table, open }: Figure): string =>
  [
    `**${inertMarkdown(title)}**${note === undefined ? "" : ` — ${textOf(note)}`}`,
    ...(brief ?? []).map(textOf),
    ...(table === undefined
      ? []
      : [open === true ? tableText(table) : unfolding("Figures", tableText(table))]),
  ].join("\n\n");

const unfolding = (summary: string, text: string): string =>
  `<details><summary>${inertMarkdown(summary)}</summary>\n\n${text}\n\n</details>`;

const tableText = ({ columns, rows }: Table): string =>
  [
    columns.map(({ title }) => inertMarkdown(title)),
    columns.map(({ align }) => (align === "right" ? "---:" : "---")),
    ...rows.map((row) => row.map(textOf)),
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

const textOf = (text: Text): string => {
  if (typeof text === "string") return inertMarkdown(text);
  if (!("is" in text)) return text.map(textOf).join("");
  switch (text.is) {
    case "strong":
      return `**${textOf(text.text)}**`;
    case "code":
      return `<code>${textOf(text.text)}</code>`;
    case "mark":
      return `${symbolOfIcon[text.look[1]]} ${textOf(text.text)}`;
    case "lines":
      return text.lines.map(textOf).join("<br>");
    case "bullet":
      return "";
    default:
      return textOf(text.text);
  }
};
