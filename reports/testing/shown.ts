import { chaptersOf } from "../write.ts";
import type { Doc } from "../document/model.ts";
import type { RunView } from "../gather/gather.ts";
import { renderHtmlChapters, renderHtmlDocument } from "../html/document.ts";
import { renderMarkdownChapters } from "../markdown/document.ts";
import { renderTerminal } from "../terminal/document.ts";
import { plain } from "../terminal/palette.ts";

/** A document on a terminal without colours. */
export const onTerminal = (document: Doc, columns = 100): string =>
  renderTerminal(document, { palette: plain, columns });

/** A document as a page. */
export const asPage = (document: Doc): string => renderHtmlDocument(document, "report");

export const renderHtml = (views: readonly RunView[]): string =>
  renderHtmlChapters(chaptersOf(views, "touchstone"));

export const renderMarkdown = (views: readonly RunView[], options: { readonly mostBytes?: number } = {}) =>
  renderMarkdownChapters(chaptersOf(views, "touchstone", "brief"), options);

/** What a page says, in one line. */
export const textOf = (html: string): string =>
  html
    .slice(html.indexOf("<main"))
    .replace(/<script>.*?<\/script>/gs, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/\s+/g, " ");

export const headlineIn = (html: string): string => /<h1[^>]*>(.*?)<\/h1>/.exec(html)?.[1] ?? "";

/** How many elements of a page have exactly these classes. */
export const countOf = (html: string, className: string): number =>
  html.split(`class="${className}"`).length - 1;
