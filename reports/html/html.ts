import { createHash } from "node:crypto";
import type { VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import { answerOf } from "./answer.ts";
import { el, type Child } from "./element.ts";
import { gateParts } from "./gate.ts";
import type { Part } from "./part.ts";
import { iconSheet } from "./icons.ts";
import type { RunView } from "./gather/view.ts";
import { loadParts } from "./load/parts.ts";
import { toneMark, type Tone } from "./mark.ts";
import { overview, type Chapter } from "./overview.ts";
import { script } from "./script.ts";
import { style } from "./style.ts";

export interface HtmlOptions {
  /** How a user calls Touchstone, for the commands that the page offers. */
  readonly program: string;
}

/**
 * One page that tells of one or several runs, whole in itself: it loads nothing, and runs no script
 * but its own. The same runs always give the same bytes.
 */
export const renderHtml = (views: readonly RunView[], { program }: HtmlOptions): string => {
  const chapters = chaptersOf(views);
  const contents = chapters.map((chapter) => ({ ...chapter, parts: partsOf(chapter, program) }));
  const page = el(
    "html",
    { lang: "en" },
    head(chapters),
    el(
      "body",
      {},
      el("a", { class: "skip", href: "#answer" }, "Skip to the answer"),
      iconSheet(),
      masthead(),
      el(
        "div",
        { class: "page" },
        navigation(contents),
        el(
          "main",
          {},
          overview(chapters),
          contents.map((content) => chapterBody(content, contents.length > 1)),
          foot(chapters),
        ),
      ),
    ),
  );
  // Style and script stand outside of what is rendered, which would escape them: the policy has the hashes of their bytes.
  return `<!doctype html>\n${renderToString(page)
    .replace("</head>", () => `<style>${style}</style></head>`)
    .replace("</body>", () => `<script>${script}</script></body>`)}\n`;
};

const chaptersOf = (views: readonly RunView[]): readonly Chapter[] =>
  views.map((view, at) => {
    const kind = view.kind === "conform" ? "Gate" : "Load";
    const count = (some: readonly RunView[]): number =>
      some.filter((other) => other.kind === view.kind).length;
    return {
      view,
      title: count(views) === 1 ? kind : `${kind} ${count(views.slice(0, at + 1))}`,
      prefix: views.length === 1 ? "" : `run${at + 1}-`,
    };
  });

const partsOf = ({ view, prefix }: Chapter, program: string): readonly Part[] =>
  view.kind === "conform" ? gateParts(view, { prefix, program }) : loadParts(view, { prefix, program });

const sha256 = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing may be loaded or sent; the one style and the one script are named by their hashes. */
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

const head = (chapters: readonly Chapter[]): VNode => {
  const gravest = chapters.map(({ view }) => answerOf(view)).toSorted((a, b) => b.gravity - a.gravity)[0];
  const name = chapters[0]?.view.record.target.name ?? "no run";
  const colour = iconColours[gravest?.tone ?? "none"];
  const icon = `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='8' cy='8' r='7' fill='%23${colour}'/%3E%3C/svg%3E`;
  return el(
    "head",
    {},
    el("meta", { charset: "utf-8" }),
    el("meta", { "http-equiv": "Content-Security-Policy", content: policy }),
    el("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    el("meta", { name: "color-scheme", content: "light dark" }),
    el("meta", { name: "referrer", content: "no-referrer" }),
    el("title", {}, `${name}: ${gravest?.headline ?? "no run"}`),
    el("link", { rel: "icon", href: icon }),
  );
};

const masthead = (): VNode =>
  el(
    "header",
    { class: "masthead" },
    el(
      "span",
      { class: "wordmark" },
      el(
        "svg",
        { width: 22, height: 22, viewBox: "0 0 22 22", "aria-hidden": "true" },
        el("rect", { class: "stone", width: 22, height: 22, rx: 5 }),
        el("path", { class: "streak", d: "M5 15.5 17 6.5" }),
      ),
      "Touchstone",
    ),
    el("button", { type: "button", class: "theme", hidden: true }, "Dark"),
  );

type Content = Chapter & { readonly parts: readonly Part[] };

const navigation = (contents: readonly Content[]): VNode =>
  el(
    "nav",
    { class: "contents", "aria-label": "Contents" },
    el("ul", {}, el("li", {}, el("a", { href: "#answer" }, "The answer"))),
    contents.map(({ title, prefix, parts }) => [
      contents.length > 1 && el("a", { class: "chapter", href: `#${prefix}top` }, title),
      el(
        "ul",
        {},
        parts.map(({ id, title }) => el("li", {}, el("a", { href: `#${id}` }, title))),
      ),
    ]),
  );

const chapterBody = ({ view, title, prefix, parts }: Content, isOneOfSeveral: boolean): Child => {
  const sections = parts.map(({ id, title, content }) =>
    el("section", { id, "aria-labelledby": `${id}-title` }, el("h2", { id: `${id}-title` }, title), content),
  );
  if (!isOneOfSeveral) return sections;
  const { icon, tone, headline } = answerOf(view);
  return el(
    "div",
    { class: "chapter-body", id: `${prefix}top` },
    el(
      "div",
      { class: "chapter-head" },
      toneMark(tone, icon, ""),
      el("h2", {}, title, el("span", { class: "soft" }, ` — ${headline}`)),
    ),
    sections,
  );
};

const foot = (chapters: readonly Chapter[]): VNode =>
  el(
    "footer",
    { class: "soft" },
    `Written by Touchstone from ${chapters.map(({ view }) => view.run).join(" and ")}. The record has all that this page leaves out.`,
  );
