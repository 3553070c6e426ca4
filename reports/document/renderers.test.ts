import pc from "picocolors";
import { describe, expect, it } from "vitest";
import { documentLimits } from "../../conformance/contract/limits.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { type RunView, gather } from "../gather/gather.ts";
import { renderMarkdownDocument } from "../markdown/document.ts";
import { readRun } from "../read/index.ts";
import { renderTerminal } from "../terminal/document.ts";
import { asPage, onTerminal } from "../testing/shown.ts";
import { failedRule, gateRun, hostileRun, loadRun, missedAndHeld, missingRule } from "../testing/ci-runs.ts";
import { madeDuet } from "../testing/duet-document.ts";
import { recordOf, ruleThat, withResults, hostile, unsafeCharacters } from "../testing/fixture.ts";
import { compared, gateOf, madeHistory } from "../testing/made-runs.ts";
import { writeGateRun, writeLoadRun } from "../testing/records.ts";
import { width } from "../text/layout.ts";
import { chaptersOf } from "../write.ts";
import { compareDoc } from "./compare.ts";
import { doctorDoc, catalogueDoc, ruleDoc } from "./commands.ts";
import { duetDoc } from "./duet.ts";
import { historyDoc } from "./history.ts";
import type { Block, Doc, Text } from "./model.ts";

const of = (subject: RunView): Doc => {
  const [chapter] = chaptersOf([subject], "touchstone");
  if (chapter === undefined) throw new Error("no chapter");
  return chapter.document;
};

const waiver = { id: "code.single-use", reason: "known", owner: "the token team", expires: "2030-02-01" };
const changedRule = ruleThat.observed("authorize.redirect", '{"status":302}');
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

using folder = temporaryFolder();
writeGateRun(`${folder.path}/gate`, { seed: 1, pushes: 40, failing: ["code.single-use"] });
const load = { seed: 1, seconds: 20, requests: 2_000, breaches: 30, failedShare: 0.01 };
writeLoadRun(`${folder.path}/load`, { ...load, record: { objectives: missedAndHeld, notes: ["a note"] } });
const [readGate, readLoad] = [await readRun(`${folder.path}/gate`), await readRun(`${folder.path}/load`)];

const changedDuet = madeDuet({ pairs: 3, effect: { p50: 0.2, p95: 0.2 }, spoilt: [1] });
const inDuet = "runs/duet";
const comparison = async (said: string) =>
  compareDoc(
    await compared(
      gateOf({ rules: withResults(failedRule) }),
      gateOf({
        rules: withResults(ruleThat.failed("code.lifetime", "x", said), changedRule),
      }),
    ),
  );

const documents: Readonly<Record<string, Doc>> = {
  gate: of(gateRun(withResults(failedRule, missingRule), { outcome: "failed", exitCode: 1 })),
  "a gate with other limits, waivers and a changed pin": of({
    kind: "conform",
    directory: "runs/one",
    record: recordOf({
      rules: withResults(failedRule, changedRule),
      outcome: "failed",
      exitCode: 1,
      limits: { ...documentLimits, codeLifetimeMs: 5_000 },
      replacedLimits: ["codeLifetimeMs"],
      waivers: (["active", "expired", "stale"] as const).map((state) => ({ ...waiver, state })),
      pinned: { "authorize.redirect": '{"status":200}' },
    }),
  }),
  "a gate that was cut off": of({ kind: "conform", directory: "runs/open", record: cutOff }),
  "a gate with its evidence": of(await gather(readGate)),
  "a load with its course": of(await gather(readLoad)),
  load: of(loadRun({ fingerprint: { scenario: "mixed" } })),
  "an invalid load": of(
    loadRun({
      fingerprint: { scenario: "mixed" },
      validity: { valid: false, reasons: [{ reason: "12 were dropped", remedy: "ask for less" }] },
      outcome: "incomplete",
    }),
  ),
  duet: duetDoc(changedDuet, inDuet),
  "a comparison of gates": await comparison("it is granted"),
  "a comparison of loads": compareDoc(await compared(readLoad, readLoad)),
  history: historyDoc(madeHistory()),
  doctor: doctorDoc([
    { check: "clients[0]", ok: false, message: "it was refused", remedy: "set the secret" },
  ]),
  catalogue: catalogueDoc(),
  rule: ruleDoc("code.single-use", [{ name: "a-defect", summary: "It forgets." }]),
};

/** The same with texts of a malicious service, wherever one may stand. */
const hostileDocuments: Readonly<Record<string, Doc>> = {
  gate: of(hostileRun),
  duet: duetDoc(
    madeDuet({
      names: { a: hostile, b: hostile },
      broken: [{ side: "a", rule: hostile, times: 1 }],
      blocks: (blocks) => blocks.map((block) => ({ ...block, endpoint: hostile })),
    }),
    inDuet,
  ),
  comparison: await comparison(hostile),
  history: historyDoc(madeHistory({ folder: hostile, problems: [{ name: hostile, problem: hostile }] })),
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
      // A medium that draws no picture shows its brief or, without one, its table.
      return block.brief === undefined && block.table === undefined
        ? []
        : [block.title, block.note ?? "", ...((block.brief ? [] : block.table?.rows.flat()) ?? [])];
  }
};

const wordsOf = (text: Text): readonly string[] => {
  if (typeof text === "string") return text.split(/[^\p{L}\d.-]+/u).filter((word) => word !== "");
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

describe.each(Object.entries(documents))("the document of %s", (_, document) => {
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

  it.each([40, 60, 80, 100])(
    "stays within %i columns of a terminal, and colours change no text",
    (columns) => {
      const text = onTerminal(document, columns);
      const tooLong = text.split("\n").filter((line) => width(line) > columns);
      // Commands and paths are copied, so they stay whole.
      expect(tooLong.filter((line) => !/ replay |^Record /.test(line))).toEqual([]);
      const coloured = renderTerminal(document, { palette: pc.createColors(true), columns });
      // eslint-disable-next-line no-control-regex -- colours are control characters
      expect(coloured.replaceAll(/\u001b\[\d+m/g, "")).toBe(text);
    },
  );
});

const every = [
  ...Object.entries(documents),
  ...Object.entries(hostileDocuments).map(([name, document]) => [`a hostile ${name}`, document] as const),
];

it("names every rule on a narrow terminal, where tables become lists", () => {
  const { "a gate with its evidence": gate } = documents;
  const blocks = gate?.sections.flatMap((section) => section.blocks) ?? [];
  const ids = blocks.flatMap((block) =>
    block.is === "rules" ? block.groups.flatMap(({ rules }) => rules.map(({ id }) => id)) : [],
  );
  expect(ids.length).toBeGreaterThan(50);
  const text = onTerminal(gate as Doc, 40).replaceAll(/\s/g, "");
  // With its mark: some ids are part of a sentence, too.
  expect(ids.filter((id) => !new RegExp(`[✓✗○–]${id}`).test(text))).toEqual([]);
});

describe.each(every)("whatever the service says, the document of %s", (_, document) => {
  it.each(Object.entries(renderers))(
    "is the same each time and without unsafe characters by %s",
    (__, render) => {
      expect(render(document)).toBe(render(document));
      expect(render(document)).not.toMatch(unsafeCharacters);
    },
  );

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
