import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { renderMarkdownDocument } from "./markdown/document.ts";
import { commandDocuments } from "./testing/command-documents.ts";
import { documents } from "./testing/documents.ts";
import { onTerminal } from "./testing/shown.ts";

const folder = path.join(import.meta.dirname, "golden");

/** Markdown holds the same documents: one of each kind shows how it looks there. */
const inMarkdown = [
  "gate green",
  "gate red",
  "gate not judged",
  "gate with measurements and a changed pin",
  "load that broke a promise and missed an objective",
  "comparison of gates",
  "duet that found b slower",
  "history",
];

const all = { ...documents, ...commandDocuments };
const goldens = [
  ...Object.entries(all).map(([name, document]) => [`${name}.txt`, onTerminal(document)] as const),
  ...inMarkdown.map((name) => [`${name}.md`, all[name] && renderMarkdownDocument(all[name])] as const),
];

it.each(goldens)("%s is what its golden file shows", async (name, text) => {
  await expect(text).toMatchFileSnapshot(path.join(folder, name.replaceAll(",", "").replaceAll(" ", "-")));
});

it("every golden file belongs to a document", () => {
  const names = goldens.map(([name]) => name.replaceAll(",", "").replaceAll(" ", "-"));
  expect(readdirSync(folder).toSorted()).toEqual(names.toSorted());
});
