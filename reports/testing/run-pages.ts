import { chaptersOf, type RunSubject } from "../document/chapters.ts";
import { renderHtmlChapters } from "../html/document.ts";
import { renderMarkdownChapters } from "../markdown/document.ts";

export const renderHtml = (
  subjects: readonly RunSubject[],
  { program }: { readonly program: string },
): string => renderHtmlChapters(chaptersOf(subjects, program));

export const renderMarkdown = (
  subjects: readonly RunSubject[],
  { program, mostBytes }: { readonly program: string; readonly mostBytes?: number },
): string =>
  renderMarkdownChapters(chaptersOf(subjects, program), mostBytes === undefined ? {} : { mostBytes });
