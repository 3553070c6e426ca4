import type { VNode } from "preact";
import { gravestOf, type Chapter } from "../document/chapters.ts";
import type { Block, Doc, Fact, Section } from "../document/model.ts";
import { el, link, type Child } from "./element.ts";
import { evidence } from "./exchanges.ts";
import { toneMark } from "./icons.ts";
import { command, facts, figure, table } from "./parts.ts";
import { rulesNode } from "./rules.ts";
import { renderPage } from "./shell.ts";
import { textNode } from "./text.ts";

export const renderHtmlDocument = (document: Doc, name: string): string =>
  renderHtmlChapters([{ title: name, prefix: "", document }]);

/**
 * Documents as one self-contained page: it loads nothing and runs only its own script. The same documents always give
 * the same bytes. Of several documents, the worst gives the headline.
 */
export const renderHtmlChapters = (chapters: readonly Chapter[]): string => {
  const gravest = gravestOf(chapters);
  const sources = chapters.map(({ document }) => document.source).join(" and ");
  return renderPage(
    gravest,
    chapters,
    overview(chapters, gravest),
    chapters.map((chapter) => chapterNode(chapter, chapters)),
    el(
      "footer.soft",
      `Written by Touchstone from ${sources}. The record has everything that this page leaves out.`,
    ),
  );
};

const overview = (chapters: readonly Chapter[], gravest: Doc): VNode => {
  const isOne = chapters.length === 1;
  const distinct = <T>(of: (document: Doc) => readonly T[]): readonly T[] => [
    ...new Map(
      chapters.flatMap(({ document }) => of(document).map((one) => [JSON.stringify(one), one] as const)),
    ).values(),
  ];
  return el(
    "section.overview",
    { "aria-labelledby": "answer" },
    distinct(({ before }) => before).map(blockNode),
    el(
      "div.answer",
      toneMark(...gravest.look, ""),
      el(
        "div",
        el("h1", { id: "answer" }, gravest.headline),
        isOne && el("p.detail", textNode(gravest.detail)),
      ),
    ),
    !isOne &&
      el(
        "ul.answers",
        chapters.map(({ title, prefix, document: { look, headline, detail } }) =>
          el(
            "li",
            toneMark(...look, ""),
            el("div", el("b", link(`${prefix}top`, title), ` — ${headline}`), el("p.soft", textNode(detail))),
          ),
        ),
      ),
    facts(sharedFacts(chapters)),
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
        "div.chapter-body",
        { id: `${prefix}top` },
        el(
          "div.chapter-head",
          toneMark(...document.look, ""),
          el("h2", title, el("span.soft", ` — ${document.headline}`)),
        ),
        facts(document.about.filter((fact) => !shared.has(JSON.stringify(fact)))),
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

const blockNode = (block: Block): Child => {
  switch (block.is) {
    case "text":
      return el("p", { class: block.look }, textNode(block.text));
    case "heading":
      return el("h3", block.text);
    case "facts":
      return facts(block.facts, "about");
    case "list":
      return el(
        "ul",
        block.items.map((item) => el("li", textNode(item))),
      );
    case "callout":
      return el("div.callout", el("h2", block.title), block.blocks.map(blockNode));
    case "fold":
      return el("details.later", el("summary", block.summary), block.blocks.map(blockNode));
    case "command":
      return command(block.command);
    case "card":
      return el(
        "article",
        { class: block.tone === undefined ? "breach" : `breach ${block.tone}`, id: block.id },
        el(
          "header",
          el("h3", textNode(block.header)),
          block.beside !== undefined && el("span.soft", block.beside),
        ),
        block.promise !== undefined && el("p.promise", block.promise),
        block.blocks.map(blockNode),
      );
    case "rules":
      return rulesNode(block, ({ blocks }) => blocks.map(blockNode));
    case "exchanges":
      return evidence(block);
    case "table":
      return table(block);
    default:
      return figure(block);
  }
};
