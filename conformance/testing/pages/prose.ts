import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { root } from "../measure.ts";

/** A page of the documentation. */
export interface Page {
  /** From the root, such as docs/tutorial.md. */
  readonly file: string;
  readonly text: string;
}

const docs = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((file) =>
  file.endsWith(".md"),
);

export const allPages: readonly Page[] = ["README.md", ...docs.map((file) => path.join("docs", file))]
  .toSorted()
  .map((file) => ({ file, text: readFileSync(path.join(root, file), "utf8") }));

const heldToTheCode = /^docs\/reference\/(?:commands|profile|rules|exit-codes|mistakes)\.md$/;

/** The pages that people write and read through. */
export const writtenPages = allPages.filter(({ file }) => !heldToTheCode.test(file));

/** The text without its fences. */
export const unfenced = (text: string): string => text.replaceAll(/^```.*?^```$/gms, "");

const plain = (text: string): string =>
  text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/`[^`]*`/g, "code")
    .replaceAll(/[*_]/g, "");

const wordsIn = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Paragraphs and items of lists; headings, tables, pictures and fences are none. */
export const paragraphsOf = ({ text }: Page): readonly string[] =>
  unfenced(text)
    .split(/\n\n|\n(?=\s*(?:-|\d+\.) )/)
    .map((paragraph) => paragraph.trim().replace(/^(?:-|\d+\.) /, ""))
    .filter((paragraph) => paragraph !== "" && !/^(?:#|\||!\[)/.test(paragraph));

const sentencesIn = (paragraph: string): readonly string[] =>
  plain(paragraph).split(/(?<=[.?!]["”)]*)\s+(?=\S)/);

export interface Measures {
  readonly words: number;
  /** Words of a sentence, on average. */
  readonly meanSentence: number;
  readonly longestParagraph: number;
}

export const measuresOf = (pages: readonly Page[]): Measures => {
  const paragraphs = pages.flatMap(paragraphsOf);
  const sentences = paragraphs.flatMap(sentencesIn).map(wordsIn);
  return {
    words: pages.reduce((sum, { text }) => sum + text.split(/\s+/).length - 1, 0),
    meanSentence: sentences.reduce((sum, words) => sum + words, 0) / Math.max(1, sentences.length),
    longestParagraph: Math.max(0, ...paragraphs.map((one) => wordsIn(plain(one)))),
  };
};
