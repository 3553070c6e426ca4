import type { VNode } from "preact";
import type { Chapter, Icon, Block, Doc, Fact, Section, Tone } from "../document/model.ts";
import { el, link, type Child, toneMark, iconSheet } from "./element.ts";
import { evidence, command, facts, figure, table, textNode } from "./parts.ts";
import { rulesNode } from "./rules.ts";
import { createHash } from "node:crypto";
import { renderToString } from "preact-render-to-string";
import { script } from "./script.ts";
import { style } from "./style.ts";

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
    aboutRun(sharedFacts(chapters)),
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
    distinct(({ after }) => after).map(blockNode),
  );
};

const aboutRun = (shared: readonly Fact[]): Child =>
  shared.length > 0 && el("section.about-run", { "aria-label": "About this run" }, facts(shared));

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

/**
 * A self-contained page as text: it includes its style, script and icons, and its content security policy permits
 * nothing else. One of its parts has the id `answer`.
 */
const renderPage = (
  { title, look }: Doc,
  chapters: readonly Chapter[],
  ...main: readonly Child[]
): string => {
  const page = el(
    "html",
    { lang: "en" },
    head(title, look[0]),
    el(
      "body",
      el("a.skip", { href: "#answer" }, "Skip to the result"),
      iconSheet(),
      masthead(),
      el("div.page", navigation(chapters), el("main", main)),
    ),
  );
  // Style and script are inserted after rendering, which would escape them; the policy has the hashes of
  // their bytes.
  return `<!doctype html>\n${renderToString(page)
    .replace("</head>", () => `<style>${style}</style></head>`)
    .replace("</body>", () => `<script>${script}</script></body>`)}\n`;
};

const sha256 = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing may be loaded or sent; the only style and script allowed are named by their hashes. */
const policy = [
  "default-src 'none'",
  `style-src ${sha256(style)}`,
  `script-src ${sha256(script)}`,
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

const iconColours: Readonly<Record<Tone, string>> = {
  good: "14744a",
  bad: "b3261e",
  warn: "7a5200",
  open: "7a5200",
  seen: "1f5f99",
  none: "55636f",
};

const head = (title: string, tone: Tone): VNode => {
  const colour = iconColours[tone];
  const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${colour}'/%3E%3C/svg%3E`;
  return el(
    "head",
    el("meta", { charset: "utf-8" }),
    el("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
    el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    el("meta", { name: "color-scheme", content: "light dark" }),
    el("meta", { name: "referrer", content: "no-referrer" }),
    el("title", title),
    el("link", { rel: "icon", href: icon }),
  );
};

const masthead = (): VNode =>
  el(
    "header.masthead",
    el(
      "span.wordmark",
      el(
        "svg",
        { width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true" },
        el("rect.stone", { width: 22, height: 22, rx: 5 }),
        el("path.streak", { d: "M5 15.5 17 6.5" }),
      ),
      "Touchstone",
    ),
    el("button", { type: "button", class: "theme", hidden: true }, "Dark"),
  );

const navigation = (chapters: readonly Chapter[]): VNode =>
  el(
    "nav.contents",
    { "aria-label": "Contents" },
    el("ul", el("li", link("answer", "Result"))),
    chapters.map(({ title, prefix, document }) => [
      chapters.length > 1 && el("a.chapter", { href: `#${prefix}top` }, title),
      el(
        "ul",
        document.sections.map((one) => el("li", link(one.id, one.title))),
      ),
    ]),
  );

/** From the least to the most severe. */
const gravities: readonly Icon[] = ["check", "ring", "unequal", "dots", "question", "hash", "cross"];
const gravityOf = ({ document }: Chapter): number => gravities.indexOf(document.look[1]);

/** The document whose headline a combined report takes. */
const gravestOf = (chapters: readonly Chapter[]): Doc => {
  const [gravest] = chapters.toSorted((a, b) => gravityOf(b) - gravityOf(a));
  if (gravest === undefined) throw new Error("a report has at least one document");
  return gravest.document;
};
