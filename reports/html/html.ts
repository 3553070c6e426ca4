import { gateDoc } from "../document/gate.ts";
import { loadDoc } from "../document/load.ts";
import type { RunView } from "../gather/view.ts";
import { renderHtmlChapters, type Chapter } from "./document.ts";

export interface HtmlOptions {
  /** How a user calls Touchstone, for the commands that the page offers. */
  readonly program: string;
}

/** One page on one or several runs. */
export const renderHtml = (views: readonly RunView[], { program }: HtmlOptions): string =>
  renderHtmlChapters(
    views.map((view, at): Chapter => {
      const prefix = views.length === 1 ? "" : `run${at + 1}-`;
      return {
        title: titleOf(views, at),
        prefix,
        document:
          view.kind === "conform"
            ? gateDoc(view, { prefix, program, detail: "full" })
            : loadDoc(view, { prefix }),
      };
    }),
  );

/** "Gate", or "Gate 2" where there are several. */
const titleOf = (views: readonly RunView[], at: number): string => {
  const kind = views[at]?.kind;
  const count = (some: readonly RunView[]): number => some.filter((view) => view.kind === kind).length;
  const title = kind === "conform" ? "Gate" : "Load";
  return count(views) === 1 ? title : `${title} ${count(views.slice(0, at + 1))}`;
};
