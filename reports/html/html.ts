import { answerOf } from "./answer.ts";
import { el, type Child } from "./element.ts";
import { gateParts } from "./gate.ts";
import type { RunView } from "./gather/view.ts";
import { loadParts } from "./load/parts.ts";
import { toneMark } from "./mark.ts";
import { overview, type Chapter } from "./overview.ts";
import type { Part } from "./part.ts";
import { renderPage, sectionsOf } from "./shell.ts";
import type { VNode } from "preact";

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
  const gravest = chapters.map(({ view }) => answerOf(view)).toSorted((a, b) => b.gravity - a.gravity)[0];
  return renderPage({
    title: `${views[0]?.record.target.name ?? "No target"}: ${gravest?.headline ?? "no run"}`,
    tone: gravest?.tone ?? "none",
    contents: contents.map(({ title, prefix, parts }) => ({ title, id: `${prefix}top`, parts })),
    main: [
      overview(chapters),
      contents.map((content) => chapterBody(content, contents.length > 1)),
      foot(chapters),
    ],
  });
};

type Content = Chapter & { readonly parts: readonly Part[] };

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

const chapterBody = ({ view, title, prefix, parts }: Content, isOneOfSeveral: boolean): Child => {
  const sections = sectionsOf(parts);
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
