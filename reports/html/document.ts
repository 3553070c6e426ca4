import type { VNode } from "preact";
import { gravestOf, type Chapter } from "../document/chapters.ts";
import type { Block, Doc, Fact, Figure, Section, Table, Text } from "../document/model.ts";
import { el, type Child } from "./element.ts";
import { evidence } from "./exchanges.ts";
import { toneMark } from "./icons.ts";
import { command, facts, figure, link, table } from "./parts.ts";
import { bullet } from "./pictures/bullet.ts";
import { draw } from "./pictures/draw.ts";
import { rulesNode } from "./rules.ts";
import { renderPage } from "./shell.ts";

export const renderHtmlDocument = (document: Doc, name: string): string =>
  renderHtmlChapters([{ title: name, prefix: "", document }]);

/**
 * Documents as one self-contained page: it loads nothing and runs only its own script. The same documents always give
 * the same bytes. Of several documents, the worst gives the headline.
 */
export const renderHtmlChapters = (chapters: readonly Chapter[]): string => {
  const gravest = gravestOf(chapters);
  const { title, look } = gravest;
  return renderPage({
    title,
    tone: look[0],
    contents: chapters.map((one) => ({
      title: one.title,
      id: `${one.prefix}top`,
      parts: one.document.sections,
    })),
    main: [
      overview(chapters, gravest),
      chapters.map((chapter) => chapterNode(chapter, chapters)),
      el(
        "footer",
        { class: "soft" },
        `Written by Touchstone from ${chapters.map(({ document }) => document.source).join(" and ")}. The record has everything that this page leaves out.`,
      ),
    ],
  });
};

const overview = (chapters: readonly Chapter[], gravest: Doc): VNode => {
  const isOne = chapters.length === 1;
  const distinct = <T>(of: (document: Doc) => readonly T[]): readonly T[] => [
    ...new Map(
      chapters.flatMap(({ document }) => of(document).map((one) => [JSON.stringify(one), one] as const)),
    ).values(),
  ];
  return el(
    "section",
    { class: "overview", "aria-labelledby": "answer" },
    distinct(({ before }) => before).map(blockNode),
    el(
      "div",
      { class: "answer" },
      toneMark(...gravest.look, ""),
      el(
        "div",
        {},
        el("h1", { id: "answer" }, gravest.headline),
        isOne && el("p", { class: "detail" }, textNode(gravest.detail)),
      ),
    ),
    !isOne &&
      el(
        "ul",
        { class: "answers" },
        chapters.map(({ title, prefix, document: { look, headline, detail } }) =>
          el(
            "li",
            {},
            toneMark(...look, ""),
            el(
              "div",
              {},
              el("b", {}, link(`${prefix}top`, title), ` — ${headline}`),
              el("p", { class: "soft" }, textNode(detail)),
            ),
          ),
        ),
      ),
    factsNode(sharedFacts(chapters)),
    distinct(({ after }) => after).map(blockNode),
  );
};

const sharedFacts = (chapters: readonly Chapter[]): readonly Fact[] => {
  const [first, ...others] = chapters.map(({ document }) => document.about);
  return (first ?? []).filter((fact) =>
    others.every((facts) => facts.some((one) => JSON.stringify(one) === JSON.stringify(fact))),
  );
};

const chapterNode = ({ document, title, prefix }: Chapter, all: readonly Chapter[]): Child => {
  const isOneOfSeveral = all.length > 1;
  const shared = new Set(sharedFacts(all).map((fact) => JSON.stringify(fact)));
  const sections = document.sections.map(sectionNode);
  return isOneOfSeveral
    ? el(
        "div",
        { class: "chapter-body", id: `${prefix}top` },
        el(
          "div",
          { class: "chapter-head" },
          toneMark(...document.look, ""),
          el("h2", {}, title, el("span", { class: "soft" }, ` — ${document.headline}`)),
        ),
        factsNode(document.about.filter((fact) => !shared.has(JSON.stringify(fact)))),
        sections,
      )
    : sections;
};

const sectionNode = ({ id, title, blocks }: Section): VNode =>
  el(
    "section",
    { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, title),
    blocks.map(blockNode),
  );

const factsNode = (entries: readonly Fact[], className?: string): Child =>
  entries.length > 0 &&
  facts(
    entries.map(([name, value]) => [name, textNode(value)] as const),
    className,
  );

export const blockNode = (block: Block): Child => {
  switch (block.is) {
    case "text":
      return el("p", { class: block.look }, textNode(block.text));
    case "heading":
      return el("h3", {}, block.text);
    case "facts":
      return factsNode(block.facts, "about");
    case "list":
      return el(
        "ul",
        {},
        block.items.map((item) => el("li", {}, textNode(item))),
      );
    case "callout":
      return el("div", { class: "callout" }, el("h2", {}, block.title), block.blocks.map(blockNode));
    case "fold":
      return el("details", { class: "later" }, el("summary", {}, block.summary), block.blocks.map(blockNode));
    case "command":
      return command(block.command);
    case "card":
      return el(
        "article",
        { class: block.tone === undefined ? "breach" : `breach ${block.tone}`, id: block.id },
        el(
          "header",
          {},
          el("h4", {}, textNode(block.header)),
          block.beside !== undefined && el("span", { class: "soft" }, block.beside),
        ),
        block.promise !== undefined && el("p", { class: "promise" }, block.promise),
        block.blocks.map(blockNode),
      );
    case "rules":
      return rulesNode(block, ({ blocks }) => blocks.map(blockNode));
    case "exchanges":
      return evidence(block);
    case "table":
      return tableNode(block);
    default:
      return figureNode(block);
  }
};

const tableNode = ({ caption, columns, rows }: Table): VNode =>
  table(
    caption,
    columns.map(({ title }) => title),
    rows.map((row) => row.map(textNode)),
    columns.flatMap(({ align }, at) => (align === undefined ? [] : [at])),
  );

const figureNode = ({ title, note, legend, picture, table: all, open = false }: Figure): Child => [
  figure({
    title,
    ...(note === undefined ? {} : { note: textNode(note) }),
    ...(legend === undefined ? {} : { legend }),
    picture: draw(picture),
    ...(all === undefined || open ? {} : { table: tableNode(all) }),
  }),
  open && all !== undefined && tableNode(all),
];

export const textNode = (text: Text): Child => {
  if (typeof text === "string") return text;
  if (!("is" in text)) return text.map(textNode);
  switch (text.is) {
    case "strong":
      return el("strong", {}, textNode(text.text));
    case "soft":
      return el("span", { class: "soft" }, textNode(text.text));
    case "code":
      return el("code", { class: "wrap" }, textNode(text.text));
    case "mark":
      return el(
        "span",
        { class: isWord(text.text) ? "with-mark word" : "with-mark" },
        toneMark(...text.look, text.word ?? ""),
        textNode(text.text),
      );
    case "link":
      return el("a", { href: `#${text.to}` }, textNode(text.text));
    case "file":
      return el("a", { href: text.name }, textNode(text.text));
    case "lines":
      return el(
        "ul",
        { class: "plain" },
        text.lines.map((line) => el("li", {}, textNode(line))),
      );
    default:
      return bullet(text);
  }
};

/** Verdicts in a table stay on one line; titles may wrap. */
const isWord = (text: Text): boolean => typeof text === "string" && text.length < 16;
