import { describe, expect, it } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { renderHtmlDocument } from "../html/document.ts";
import { renderMarkdownDocument } from "../markdown/document.ts";
import { renderTerminal } from "../terminal/document.ts";
import { plain } from "../terminal/palette.ts";
import { failedRule, gateRun, loadRun, missingRule } from "../testing/ci-runs.ts";
import { madeDuet } from "../testing/duet-document.ts";
import { recordOf, resultOf, withResults } from "../testing/fixture.ts";
import { chaptersOf, type RunSubject } from "./chapters.ts";
import { doctorDoc } from "./doctor.ts";
import { duetDoc } from "./duet.ts";
import type { Block, Doc, Text } from "./model.ts";
import { catalogueDoc, ruleDoc } from "./rules.ts";

const of = (subject: RunSubject): Doc => {
  const [chapter] = chaptersOf([subject], "touchstone");
  if (chapter === undefined) throw new Error("no chapter");
  return chapter.document;
};

const waiver = { id: "code.single-use", reason: "known", owner: "the token team", expires: "2030-02-01" };
const changedRule = resultOf("authorize.redirect", {
  kind: "observed",
  cases: 1,
  fingerprint: '{"status":302}',
});
const {
  outcome: _outcome,
  exitCode: _exitCode,
  endedAt: _endedAt,
  ...cutOff
} = recordOf({
  state: "open",
  rules: withResults().slice(1),
  selected: withResults().map(({ id }) => id),
});

const documents: Readonly<Record<string, Doc>> = {
  gate: of(gateRun(withResults(failedRule, missingRule), { outcome: "failed", exitCode: 1 })),
  "a gate with other limits, waivers and a changed pin": of({
    kind: "conform",
    run: "runs/one",
    record: recordOf({
      rules: withResults(failedRule, changedRule),
      outcome: "failed",
      exitCode: 1,
      limits: { ...documentLimits, codeLifetimeMs: 5_000 },
      replacedLimits: ["codeLifetimeMs"],
      waivers: (["active", "expired", "stale"] as const).map((state) => ({ ...waiver, state })),
    }),
    pinned: { "authorize.redirect": '{"status":200}' },
  }),
  "a gate that was cut off": of({ kind: "conform", run: "runs/open", record: cutOff, pinned: {} }),
  load: of(loadRun({ fingerprint: { scenario: "mixed" } })),
  duet: duetDoc(madeDuet({ pairs: 3 }), { run: "runs/duet", isPilot: false }),
  doctor: doctorDoc([
    { check: "clients[0]", ok: false, message: "it was refused", remedy: "set the secret" },
  ]),
  catalogue: catalogueDoc(),
  rule: ruleDoc("code.single-use", [{ name: "a-defect", summary: "It forgets." }]),
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
      return block.groups.flatMap(({ title, rules }) => [title, ...rules.map(({ id }) => id)]);
    case "fold":
      return [block.summary];
    case "exchanges":
      return [];
    case "table":
      return block.rows.flat();
    default:
      return [block.title, block.note ?? ""];
  }
};

const wordsOf = (text: Text): readonly string[] => {
  if (typeof text === "string") return text.split(/[^\p{L}\d.-]+/u).filter((word) => word !== "");
  if (!("is" in text)) return text.flatMap(wordsOf);
  if (text.is === "bullet") return [];
  return text.is === "lines" ? text.lines.flatMap(wordsOf) : wordsOf(text.text);
};

const renderers: Readonly<Record<string, (document: Doc) => string>> = {
  terminal: (document) => renderTerminal(document, { palette: plain, columns: 100 }),
  html: (document) => renderHtmlDocument(document, "report"),
  markdown: renderMarkdownDocument,
};

describe.each(Object.entries(documents))("the document of %s", (_, document) => {
  it.each(Object.entries(renderers))("is rendered completely by %s", (__, render) => {
    const shown = new Set(
      wordsOf(
        render(document).replaceAll(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code))),
      ),
    );
    const texts: readonly Text[] = [
      document.headline,
      document.detail,
      document.about.flat(),
      ...[...document.before, ...document.after].flatMap(textsOf),
      ...document.sections.flatMap(({ title, blocks }) => [title, ...blocks.flatMap(textsOf)]),
    ];
    expect([...new Set(texts.flatMap(wordsOf))].filter((word) => !shown.has(word))).toEqual([]);
  });
});
