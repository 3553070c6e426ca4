import { cut } from "../../conformance/contract/text.ts";
import {
  type Chapter,
  type Block,
  type Doc,
  type Exchanges,
  type Fact,
  type Figure,
  type Section,
  type Table,
  type Text,
  lookOf,
  symbolOfIcon,
} from "../document/model.ts";
import { plural } from "../text/figures.ts";
import { wordOf } from "../text/verdicts.ts";
import { endsOf } from "../gather/gather.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

/** The maximum size of a summary that CI services accept. */
const MEBIBYTE = 1_048_576;

export const renderMarkdownDocument = (document: Doc): string =>
  renderMarkdownChapters([{ title: "", prefix: "", document }]);

/** Documents in one text, all headlines first. It stays within its size limit and counts what was left out. */
export const renderMarkdownChapters = (
  chapters: readonly Chapter[],
  { mostBytes = MEBIBYTE }: { readonly mostBytes?: number } = {},
): string => {
  const label = ({ title }: Chapter): string => (chapters.length === 1 ? "" : `${title}: `);
  const source = chapters.map(({ document }) => inertMarkdown(document.source)).join(" and ");
  const pieces = [
    ...chapters.map((chapter) => ({
      text: headText(chapter.document, label(chapter)),
      of: "Answer",
      rank: 0,
    })),
    ...chapters.flatMap((chapter) => sectionPieces(chapter.document.sections, label(chapter))),
    { text: `<sub>Written by Touchstone from ${source}.</sub>`, of: "Source", rank: 0 },
  ];
  return `${fitted(pieces, mostBytes)}\n`;
};

const headText = (document: Doc, label: string): string =>
  joined([
    `# ${symbolOfIcon[document.look[1]]} ${inertMarkdown(label + document.headline)}`,
    ...document.before.map(blockText),
    textOf(document.detail),
    factsText(document.about),
    ...document.after.map(blockText),
  ]);

const sectionPieces = (sections: readonly Section[], label: string): readonly Piece[] =>
  sections
    .flatMap(({ title, blocks }) =>
      blocks.map((block, at) => ({
        text: joined([at === 0 ? `## ${inertMarkdown(label + title)}` : "", blockText(block)]),
        of: label + title,
      })),
    )
    .map((piece, rank) => ({ ...piece, rank }));

const joined = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n\n");

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
    case "fold":
      return unfolding(block.summary, block.blocks.map(blockText).join("\n\n"));
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
                ({ id, kind, cases, sentence }) =>
                  `- ${symbolOfIcon[lookOf[kind][1]]} ${codeMarkdown(id)} ${wordOf(kind)}, ${plural(cases, "case")}: ${inertMarkdown(sentence)}`,
              )
              .join("\n"),
          ),
        )
        .join("\n");
    case "exchanges":
      return exchangesText(block);
    case "table":
      return tableText(block);
    default:
      return figureText(block);
  }
};

/** For a long history, the first and last exchanges are shown. */
const FIRST = 3;
const LAST = 5;
const MOST_OF_EXCHANGE = 600;

const exchangesText = ({ shown, count, later }: Exchanges): string => {
  const some = endsOf(shown, FIRST, LAST).shown;
  return unfolding(
    `${some.length} of ${plural(count, "exchange")}`,
    some
      .map(({ n, request, answer, error }) => {
        const said =
          answer === undefined ? (error ?? "no complete answer") : `${answer.status} ${answer.text}`;
        const moment = later?.get(n);
        const sent =
          `#${n} ${moment === undefined ? "" : `${moment} `}${request.method} ${request.path} ${request.body ?? ""}`.trimEnd();
        return codeMarkdown(cut(`${sent} → ${said}`, MOST_OF_EXCHANGE));
      })
      .join("<br>\n"),
  );
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

const LONGEST = 2_000;

const textOf = (text: Text): string => {
  if (typeof text === "string") return inertMarkdown(cut(text, LONGEST));
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
    default:
      return textOf(text.text);
  }
};

interface Piece {
  readonly text: string;
  /** The section the piece belongs to; omissions are counted by section. */
  readonly of: string;
  /** Lower ranks are placed first. */
  readonly rank: number;
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
const GAP = "\n\n";

/** The pieces that fit, selected by rank and kept in order; a last line counts omissions. */
const fitted = (pieces: readonly Piece[], mostBytes: number): string => {
  let room = mostBytes - bytesOf(leftOut(pieces)) - GAP.length;
  const kept = new Set<Piece>();
  for (const piece of pieces.toSorted((a, b) => a.rank - b.rank)) {
    room -= bytesOf(piece.text) + GAP.length;
    if (room < 0) break;
    kept.add(piece);
  }
  return [
    ...pieces.filter((piece) => kept.has(piece)).map(({ text }) => text),
    leftOut(pieces.filter((piece) => !kept.has(piece))),
  ]
    .filter((text) => text !== "")
    .join(GAP);
};

const leftOut = (pieces: readonly Piece[]): string =>
  pieces.length === 0
    ? ""
    : `**Left out to stay within the size limit:** ${[...Map.groupBy(pieces, (piece) => piece.of)]
        .map(([of, members]) => `${members.length} of “${inertMarkdown(of)}”`)
        .join(", ")}. The run directory has everything.`;

const markup = /[&<>"'`*_~[\](){}\\|#!@^$:]/g;

/** A text that Markdown shows and never interprets: possible markup is written as entities. */
export const inertMarkdown = (text: string): string =>
  harmless(text).replace(markup, (character) => `&#${character.codePointAt(0) ?? 63};`);

/** The same as code: names that begin with an at sign do not mention users. */
const codeMarkdown = (text: string): string => `<code>${inertMarkdown(text)}</code>`;
