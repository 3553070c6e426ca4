import { gateDoc } from "./gate.ts";
import { loadDoc } from "./load.ts";
import type { RunView } from "../gather/gather.ts";
import { numbered } from "../text/verdicts.ts";
import type { Doc, Icon } from "./model.ts";

export interface Chapter {
  readonly title: string;
  readonly prefix: string;
  readonly document: Doc;
}

export const chaptersOf = (views: readonly RunView[], program: string): readonly Chapter[] => {
  const titles = views.map(({ kind }) => (kind === "conform" ? "Gate" : "Load"));
  return views.map((view, at) => {
    const prefix = views.length === 1 ? "" : `run${at + 1}-`;
    return {
      title: numbered(titles, at),
      prefix,
      document:
        view.kind === "conform"
          ? gateDoc(view, { prefix, program, detail: "full" })
          : loadDoc(view, { prefix }),
    };
  });
};

/** From the least to the most severe. */
const gravities: readonly Icon[] = ["check", "ring", "unequal", "dots", "question", "hash", "cross"];
const gravityOf = ({ document }: Chapter): number => gravities.indexOf(document.look[1]);

/** The document whose headline a combined report takes. */
export const gravestOf = (chapters: readonly Chapter[]): Doc => {
  const [gravest] = chapters.toSorted((a, b) => gravityOf(b) - gravityOf(a));
  if (gravest === undefined) throw new Error("a report has at least one document");
  return gravest.document;
};
