import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { gather, type GateView } from "../gather/gather.ts";
import { renderMarkdownDocument } from "../markdown/document.ts";
import { readRun } from "../read/index.ts";
import { renderTerminal } from "../terminal/document.ts";
import { asPage, onTerminal } from "../testing/shown.ts";
import { hostileRun } from "../testing/ci-runs.ts";
import { checks, ledger } from "../testing/command-documents.ts";
import { documents as ofRuns, hostileDocuments } from "../testing/documents.ts";
import { unsafeCharacters } from "../testing/fixture.ts";
import { writeGateRun } from "../testing/records.ts";
import { width } from "../text/layout.ts";
import { catalogueDoc, doctorDoc } from "./commands.ts";
import { ledgerDoc } from "./ledger.ts";
import { gateDoc } from "./gate.ts";
import type { Block, Doc, Text } from "./model.ts";

using folder = temporaryFolder();
writeGateRun(folder.path, { seed: 1, pushes: 40, failing: ["code.single-use"] });
const evident = gateDoc((await gather(await readRun(folder.path))) as GateView, { detail: "full" });

const documents: Readonly<Record<string, Doc>> = {
  ...ofRuns,
  doctor: doctorDoc(checks),
  ledger: ledgerDoc("ledger.db", ledger),
  catalogue: catalogueDoc(),
  "gate with its evidence": evident,
};

/** Every text that a renderer has to show, whatever its medium can draw. */
const textsOf = (block: Block): readonly Text[] => {
  switch (block.is) {
    case "text":
      return [block.text];
    case "heading":
      return [block.text];
    case "facts":
      return block.facts.flat();
    case "list":
      return block.items;
    case "callout":
      return [block.title, ...block.blocks.flatMap(textsOf)];
    case "command":
      return [block.command];
    case "card":
      return [block.header, block.beside ?? "", block.promise ?? "", ...block.blocks.flatMap(textsOf)];
    case "rules":
      return block.groups.flatMap(({ title, rules }) => [
        title,
        ...(block.isLong ? rules.map(({ id }) => id) : []),
      ]);
    case "fold":
      return [block.summary];
    case "exchanges":
      return [];
    case "table":
      return block.rows.flat();
    default:
      // A medium that draws no picture shows its brief or, without one, its table.
      return block.brief === undefined && block.table === undefined
        ? []
        : [block.title, block.note ?? "", ...((block.brief ? [] : block.table?.rows.flat()) ?? [])];
  }
};

const wordsOf = (text: Text): readonly string[] => {
  if (typeof text === "string") return text.split(/[^\p{L}\d.-]+/u).filter((word) => /[\p{L}\d]/u.test(word));
  if (!("is" in text)) return text.flatMap(wordsOf);
  if (text.is === "trend") return [];
  return text.is === "lines" ? text.lines.flatMap(wordsOf) : wordsOf(text.text);
};

const renderers: Readonly<Record<string, (document: Doc) => string>> = {
  terminal: (document) => onTerminal(document),
  html: asPage,
  markdown: renderMarkdownDocument,
};

/** How each begins a section. */
const beginnings: Readonly<Record<string, (section: Doc["sections"][number]) => string>> = {
  terminal: ({ title }) => `\n${title}`,
  html: ({ id }) => ` id="${id}"`,
  markdown: ({ title }) => `\n## ${title}\n`,
};

const textsIn = ({ headline, detail, about, before, after, sections }: Doc): readonly Text[] => [
  headline,
  detail,
  about.flat(),
  ...[...before, ...after].flatMap(textsOf),
  ...sections.flatMap(({ title, blocks }) => [title, ...blocks.flatMap(textsOf)]),
];

describe.each(Object.entries(documents))("the document of a %s", (_, document) => {
  it.each(Object.entries(renderers))("is rendered completely and in its order by %s", (name, render) => {
    const page = render(document);
    const decoded = page.replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)));
    const shown = new Set(wordsOf(decoded));
    expect([...new Set(textsIn(document).flatMap(wordsOf))].filter((word) => !shown.has(word))).toEqual([]);
    const places = document.sections.map((section) =>
      `\n${decoded}`.indexOf(beginnings[name]?.(section) ?? ""),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });
});

const every = [
  ...Object.entries(documents),
  ["hostile gate", gateDoc(hostileRun, { detail: "full" })] as const,
  ...Object.entries(hostileDocuments).map(([name, document]) => [`hostile ${name}`, document] as const),
];

it("names every rule on a narrow terminal, where tables become lists", () => {
  const blocks = evident.sections.flatMap((section) => section.blocks);
  const ids = blocks.flatMap((block) =>
    block.is === "rules" ? block.groups.flatMap(({ rules }) => rules.map(({ id }) => id)) : [],
  );
  expect(ids.length).toBeGreaterThan(50);
  const text = onTerminal(evident, 40).replaceAll(/\s/g, "");
  // With its mark: some ids are part of a sentence, too.
  expect(ids.filter((id) => !new RegExp(`[✓✗○–]${id}`).test(text))).toEqual([]);
});

describe.each(every)("whatever the service says, the document of a %s", (_, document) => {
  it.each(Object.entries(renderers))(
    "is the same each time and without unsafe characters by %s",
    (__, render) => {
      expect(render(document)).toBe(render(document));
      expect(render(document)).not.toMatch(unsafeCharacters);
    },
  );

  it.each([40, 100])("stays within %i columns of a terminal, and colours change no text", (columns) => {
    const text = onTerminal(document, columns);
    const tooLong = text.split("\n").filter((line) => width(line) > columns);
    // Commands and paths are copied, so they stay whole.
    expect(tooLong.filter((line) => !/ replay |^Record /.test(line))).toEqual([]);
    const coloured = renderTerminal(document, { palette: pc.createColors(true), columns });
    // eslint-disable-next-line no-control-regex -- colours are control characters
    expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(text);
  });

  it("is a page with unique ids, internal links and no markup of the service's", () => {
    const html = asPage(document);
    const ids = [...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    const links = [...html.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
    expect([...html.matchAll(/<(script|style|img)\b/g)].map(([tag]) => tag)).toEqual(["<style", "<script"]);
    expect(html.replace(/<(script|style)>.*?<\/\1>/gs, "")).not.toMatch(/NaN|Infinity|undefined/);
  });

  it("is Markdown without markup of the service's", () => {
    const text = renderMarkdownDocument(document);
    const outsideCode = text
      .replaceAll(/^(`{3,})\n[^]*?\n\1$/gm, "")
      .replaceAll(/(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g, "");
    expect(outsideCode.replaceAll(/^> /gm, "")).not.toMatch(/[<>@]|javascript:|\*\*bold/i);
    expect(text).not.toMatch(/^(::|##vso|##teamcity)/m);
  });
});
