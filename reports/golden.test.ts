import { readdirSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { renderCtrf } from "./ci/ctrf.ts";
import { renderJunit } from "./ci/junit.ts";
import { annotationsOf, renderCodeQuality } from "./ci/problems.ts";
import { renderMarkdownDocument } from "./markdown/document.ts";
import type { Doc } from "./document/model.ts";
import { loadRun, shownGate, shownLoads, suites } from "./testing/ci-runs.ts";
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

const all: Readonly<Record<string, Doc>> = { ...documents, ...commandDocuments };
const narrow = ["gate not judged", "gate with measurements and a changed pin"];

const shown = suites(shownGate, loadRun(), shownLoads.invalid);
const services = { GITHUB_ACTIONS: "true", TF_BUILD: "True", TEAMCITY_VERSION: "2025.1" };

const documentOf = (name: string): Doc => {
  const document = all[name];
  if (document === undefined) throw new Error(`no document has the name ${name}`);
  return document;
};

const goldens: readonly (readonly [name: string, text: string])[] = [
  ["ci junit.xml", renderJunit(suites(shownGate, loadRun(), ...Object.values(shownLoads)))],
  ["ci ctrf.json", renderCtrf(shown)],
  ["ci codequality.json", renderCodeQuality(shown, { profile: undefined })],
  [
    "ci annotations.txt",
    Object.entries(services)
      .flatMap(([name, value]) => [`${name}:`, ...annotationsOf(shown, { [name]: value }), ""])
      .join("\n"),
  ],
  ...narrow.map((name) => [`${name} at 60 columns.txt`, onTerminal(documentOf(name), 60)] as const),
  ...Object.entries(all).map(([name, document]) => [`${name}.txt`, onTerminal(document)] as const),
  ...inMarkdown.map((name) => [`${name}.md`, renderMarkdownDocument(documentOf(name))] as const),
];

it.each(goldens)("%s is what its golden file shows", async (name, text) => {
  await expect(text).toMatchFileSnapshot(path.join(folder, name.replaceAll(",", "").replaceAll(" ", "-")));
});

it("every golden file belongs to a document", () => {
  const names = goldens.map(([name]) => name.replaceAll(",", "").replaceAll(" ", "-"));
  expect(readdirSync(folder).toSorted()).toEqual(names.toSorted());
});
