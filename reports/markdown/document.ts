import { cut } from "../../conformance/contract/text.ts";
import {
  type Chapter,
  type Block,
  type Doc,
  type Exchanges,
  type Fact,
  type Figure,
  type Rules,
  type Section,
  type Table,
  type Text,
  lookOf,
  mark,
  symbolOfIcon,
  trendText,
} from "../document/model.ts";
import { groupTable } from "../document/gate-rules.ts";
import { plural } from "../text/figures.ts";
import { wordOf } from "../text/verdicts.ts";
import { endsOf } from "../gather/gather.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

/*
 * Markdown for places that know no HTML, such as Bitbucket, Azure DevOps and chats: headings, lists, tables and code. What
 * could be taken for markup stands in code, which shows every character as it is.
 */

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
  const source = chapters.map(({ document }) => inert(document.source)).join(" and ");
  const pieces = [
    ...chapters.map((chapter) => ({
      text: headText(chapter.document, label(chapter)),
      of: "Answer",
      rank: 0,
    })),
    ...chapters.flatMap((chapter) => sectionPieces(chapter.document.sections, label(chapter))),
    { text: `Written by Touchstone from ${source}.`, of: "Source", rank: 0 },
  ];
  return `${fitted(pieces, mostBytes)}\n`;
};

const headText = (document: Doc, label: string): string =>
  joined([
    `# ${symbolOfIcon[document.look[1]]} ${inert(label + document.headline)}`,
    ...document.before.map(blockText),
    textOf(document.detail),
    factsText(document.about),
    ...document.after.map(blockText),
  ]);

const sectionPieces = (sections: readonly Section[], label: string): readonly Piece[] =>
  sections
    .flatMap(({ title, blocks }) =>
      blocks.map((block, at) => ({
        text: joined([at === 0 ? `## ${inert(label + title)}` : "", blockText(block)]),
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
      return `### ${inert(block.text)}`;
    case "facts":
      return factsText(block.facts);
    case "list":
      return block.items.map((item) => `- ${textOf(item)}`).join("\n");
    case "callout":
      return joined([`**${inert(block.title)}**`, ...block.blocks.map(blockText)]);
    case "fold":
      return `${inert(block.summary)}: see the HTML report.`;
    case "command":
      return fenced([block.command]);
    case "card":
      return joined([
        `### ${textOf(block.header)}${block.beside === undefined ? "" : ` · ${inert(block.beside)}`}`,
        inert(block.promise ?? ""),
        ...block.blocks.map(blockText),
      ]);
    case "rules":
      return rulesText(block);
    case "exchanges":
      return exchangesText(block);
    case "table":
      return tableText(block);
    default:
      return figureText(block);
  }
};

/** In short, the counts of each group; otherwise each rule. */
const rulesText = ({ isLong, groups }: Rules): string => {
  if (!isLong) return joined([groupTable(groups)].map((one) => (one === undefined ? "" : tableText(one))));
  return joined(
    groups.flatMap(({ title, rules }) => [
      `**${inert(title)}**`,
      rules
        .map(
          ({ id, kind, cases, sentence }) =>
            `- ${textOf(mark(lookOf[kind], id))} ${wordOf(kind)}, ${plural(cases, "case")}: ${inert(sentence)}`,
        )
        .join("\n"),
    ]),
  );
};

/** For a long history, the first and last exchanges are shown. */
const FIRST = 3;
const LAST = 5;
const MOST_OF_EXCHANGE = 600;

const exchangesText = ({ shown, count, later }: Exchanges): string => {
  const some = endsOf(shown, FIRST, LAST).shown;
  const lines = some.map(({ n, request, answer, error }) => {
    const said =
      answer === undefined
        ? `no complete answer: ${error ?? "unknown"}`
        : `${answer.status} ${answer.text === "" ? "with an empty body" : answer.text}`;
    const moment = later?.get(n);
    const sent =
      `#${n} ${moment === undefined ? "" : `${moment} `}${request.method} ${request.path} ${request.body ?? ""}`.trimEnd();
    return [cut(sent, MOST_OF_EXCHANGE), `  → ${cut(said, MOST_OF_EXCHANGE)}`];
  });
  const left = count - some.length;
  return joined([
    fenced(lines.flat()),
    left === 0 ? "" : `${plural(left, "other exchange")}: see the record.`,
  ]);
};

const factsText = (facts: readonly Fact[]): string =>
  facts
    .map(([name, value]) => {
      const [first = "", ...rest] = linesOf(value);
      return [`- **${inert(name)}**: ${first}`, ...rest.map((line) => `  - ${line}`)].join("\n");
    })
    .join("\n");

/** Two short lines share one; more make a list within the list. */
const linesOf = (value: Text): readonly string[] =>
  typeof value === "object" && "is" in value && value.is === "lines" && value.lines.length > 2
    ? value.lines.map(textOf)
    : [textOf(value)];

/** Like a terminal, Markdown draws nothing: it shows a line of bars, or the table. */
const figureText = ({ title, note, brief, table }: Figure): string =>
  brief === undefined && table === undefined
    ? ""
    : joined([
        `**${inert(title)}**${note === undefined ? "" : `: ${textOf(note)}`}`,
        brief === undefined || brief.length === 0 ? "" : fenced(brief.map(plainText)),
        brief !== undefined || table === undefined ? "" : tableText(table),
      ]);

const tableText = ({ columns, rows }: Table): string =>
  [
    columns.map(({ title }) => inert(title)),
    columns.map(({ align }) => (align === "right" ? "---:" : "---")),
    // A bar ends a cell, also within code.
    ...rows.map((row) => row.map((cell) => textOf(cell).replaceAll("|", String.raw`\|`))),
  ]
    .map((cells) => `| ${cells.join(" | ")} |`)
    .join("\n");

const LONGEST = 2_000;

const textOf = (text: Text): string => {
  if (typeof text === "string") return inert(cut(text, LONGEST));
  if (!("is" in text)) return text.map(textOf).reduce(besides, "");
  switch (text.is) {
    case "strong":
      return bold(textOf(text.text));
    case "code":
      return inCode(plainText(text.text));
    case "mark":
      return `${symbolOfIcon[text.look[1]]} ${textOf(text.text)}`;
    case "lines":
      return text.lines.map(textOf).join(" · ");
    case "trend":
      return trendText(text);
    default:
      return textOf(text.text);
  }
};

/** Two pieces of code side by side would be read as one. */
const besides = (left: string, right: string): string =>
  left.endsWith("`") && right.startsWith("`") ? `${left} ${right}` : left + right;

const bold = (text: string): string => (text === "" ? "" : `**${text}**`);

const plainText = (text: Text): string => {
  if (typeof text === "string") return text;
  if (!("is" in text)) return text.map(plainText).join("");
  if (text.is === "trend") return trendText(text);
  return text.is === "lines" ? text.lines.map(plainText).join(" · ") : plainText(text.text);
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
        .map(([of, members]) => `${members.length} of “${inert(of)}”`)
        .join(", ")}. The run directory has everything.`;

/** Characters and beginnings that some dialect of Markdown may take for markup, a link, a mention or a reference. */
const markup = /[*_<>[\]|~\\`$@]|:\/\/|www\.|&#?\w+;|#\d|^#+$|^:\w+:$/i;
const beginsBlock = /^(?:[-+=]+|\d+[.)])$/;

/** Between spaces, so that it never touches other code. */
const ownCode = /((?<=^|\s)`[^`\s][^`]*`(?=[.,;:)!?]*(?:\s|$)))/;

/** A text that Markdown shows and never interprets: words with possible markup stand in code, as do those in backticks. */
export const inert = (text: string): string =>
  harmless(text)
    .split(ownCode)
    .map((piece, at) => (at % 2 === 1 ? piece : inertWords(piece, at === 0)))
    .join("");

const inertWords = (text: string, isFirst: boolean): string => {
  const parts: string[] = [];
  let code: string[] = [];
  const flush = (): void => {
    if (code.length > 0) parts.push(inCode(code.join(" ")));
    code = [];
  };
  for (const [at, word] of text.split(" ").entries())
    if (markup.test(word) || (isFirst && at === 0 && beginsBlock.test(word))) code.push(word);
    else {
      flush();
      parts.push(word);
    }
  flush();
  return parts.join(" ");
};

const longestRun = (text: string): number =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));

const inCode = (text: string): string => {
  const shown = harmless(text);
  if (shown === "") return "";
  const fence = "`".repeat(longestRun(shown) + 1);
  const gap = shown.startsWith("`") || shown.endsWith("`") ? " " : "";
  return `${fence}${gap}${shown}${gap}${fence}`;
};

const fenced = (lines: readonly string[]): string => {
  const shown = lines.map(harmless);
  const fence = "`".repeat(Math.max(3, longestRun(shown.join("\n")) + 1));
  return [fence, ...shown, fence].join("\n");
};
