import { describe, expect, it } from "vitest";
import { catalogue, requirementIds } from "../../conformance/contract/catalogue.ts";
import type { Check } from "../../conformance/contract/check.ts";
import { behaviours, checks } from "../testing/command-documents.ts";
import { ruleThat } from "../testing/fixture.ts";
import { width } from "../text/layout.ts";
import { onTerminal } from "../testing/shown.ts";
import { behavioursWith, catalogueDoc, doctorDoc, replayDoc, ruleDoc } from "./commands.ts";
import type { Doc } from "./model.ts";

const render = (document: Doc): string => onTerminal(document, 80);

const tooLong = (text: string, columns: number): string[] =>
  text.split("\n").filter((line) => width(line) > columns);

describe("rules", () => {
  it("prints every requirement with its level and sentence, in at most 80 columns", () => {
    const text = render(catalogueDoc());
    const flat = text.replaceAll(/\s+/g, " ");
    const missing = requirementIds.filter(
      (id) => !flat.includes(`${id} ${catalogue[id].level}, `) || !flat.includes(catalogue[id].sentence),
    );
    expect(missing).toEqual([]);
    expect(tooLong(text, 80)).toEqual([]);
  });

  it.each([
    ["code.unknown", "Because The exchange takes the code"],
    ["exchange.no-store", "Clause RFC 6749"],
    ["untestable.rate-limits", "Because "],
  ] as const)("states the source of %s", (id, start) => {
    const text = render(ruleDoc(id, []));
    expect(text.replaceAll(/ +/g, " ")).toContain(start);
    expect(text).toContain("No seeded defect breaks this rule.");
  });
});

/** The last line of the preflight's report. */
const last = (checks: readonly Check[]): string | undefined =>
  render(doctorDoc(checks)).trimEnd().split("\n").at(-1);

describe("doctor", () => {
  const [reach, secret, second] = checks;

  it("ends with a summary of the checks", () => {
    if (reach === undefined || secret === undefined || second === undefined) throw new Error("three checks");
    const { fatal: _, ...harmless } = secret;
    expect([last([reach]), last([reach, second]), last([harmless])]).toEqual([
      "✓ Ready: 1 check passed.",
      "✓ Ready: 1 check passed, 1 skipped.",
      "✗ 1 check of 1 failed; some rules will not run.",
    ]);
  });
});

describe("the behaviours of the fake", () => {
  it.each([
    ["SINGLE-use", ["code-reusable"]],
    ["push", ["push-never", "polling"]],
    ["promise of", ["sound"]],
    ["", ["sound", "push-never", "code-reusable", "polling"]],
    ["nothing such", []],
  ])("are found by %j in name, summary or rule", (text, names) => {
    expect(behavioursWith(behaviours, text).map(({ name }) => name)).toEqual(names);
  });
});

it("a replay is one line for a failure that is fixed", () => {
  const result = ruleThat.passed("code.single-use", 3);
  expect(render(replayDoc({ answer: "fixed", result }, { run: "runs/one", program: "touchstone" }))).toBe(
    "✓ code.single-use: fixed\n",
  );
});
