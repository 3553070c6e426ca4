import { symlinkSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { readRun, type GateRun, type Run } from "../read/index.ts";
import { comparisonSuite } from "../ci/compared.ts";
import { compareDoc } from "../document/compare.ts";
import { asPage, onTerminal } from "../testing/shown.ts";
import {
  allPassed,
  breachOf,
  hostile,
  recordOf,
  resultOf,
  ruleThat,
  unsafeCharacters,
  withResults,
} from "../testing/fixture.ts";
import { compared, madeRuns } from "../testing/made-runs.ts";
import { writeGateRun, writeLoadRun, type LoadRunSpec } from "../testing/records.ts";
import type { Comparison } from "./shape.ts";
import { baselineOf } from "./fingerprint.ts";
import { StoredComparison } from "./shape.ts";
import { checkOf } from "../read/lines.ts";
import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import { problemOf } from "../../conformance/testing/errors.ts";

const made = madeRuns();
const gate = (rules: readonly RuleResult[], more: Partial<RunRecord> = {}): GateRun =>
  made.gate({ rules, ...more });

const show = (comparison: Comparison): string => onTerminal(compareDoc(comparison));

const failing = (id: RuleResult["id"], kind: "failed" | "warned" = "failed"): RuleResult =>
  resultOf(id, { kind, cases: 3, breach: breachOf("it is refused", "it is granted") });
const unable = (id: RuleResult["id"]): RuleResult => ruleThat.couldNotRun(id, "it would take 30 days");

describe("two runs of the gate", () => {
  it("differ in rules that newly fail, are fixed, or can no longer be judged", async () => {
    const base = gate(
      withResults(failing("code.single-use"), unable("refresh.lifetime"), failing("code.unknown")),
    );
    const head = gate(
      withResults(failing("code.lifetime"), unable("access.lifetime"), failing("code.unknown")),
    );
    const result = await compared(base, head);
    expect(result.verdict).toBe("regressed");
    expect(Object.fromEntries(result.cases.map(({ id, verdict }) => [id, verdict]))).toMatchObject({
      "code.lifetime": "newly failing",
      "code.single-use": "fixed",
      "code.unknown": "still failing",
      "refresh.lifetime": "able again",
      "access.lifetime": "newly unable",
    });
    const { cases } = comparisonSuite(result, 1);
    expect(Object.fromEntries(cases.map(({ name, status }) => [name, status]))).toMatchObject({
      "code.lifetime": "failed",
      "code.single-use": "passed",
      "code.unknown": "passed",
      "access.lifetime": "skipped",
    });
  });

  it("say nothing of a rule that one of them excludes by its profile, whatever the other one found", async () => {
    const excluded = resultOf("code.single-use", { kind: "not-applicable", by: "profile", reason: "no" });
    const [without, broken] = [gate(withResults(excluded)), gate(withResults(failing("code.single-use")))];
    const both = [await compared(broken, without), await compared(without, broken)];
    expect(both.map(({ verdict }) => verdict)).toEqual(["incomplete", "incomplete"]);
    expect(both.map(({ cases: [first] }) => first?.verdict)).toEqual(["newly unable", "failing unjudged"]);
    for (const one of both)
      expect(comparisonSuite(one, 3).cases.find(({ name }) => name === "code.single-use")).toMatchObject({
        status: "skipped",
      });
    expect(show(both[1] as Comparison)).toMatch(
      /Failing, and not judged before\n +✗ code\.single-use +excluded by the profile before, failed\s+now/,
    );
    const kept = await compared(without, gate(allPassed()));
    expect(kept.cases[0]?.verdict).toBe("able again");
  });

  it("are regressed by gating rules, and by advisory ones in a strict run", async () => {
    const advisory = failing("code.bound-to-client", "warned");
    const verdict = async (strict: boolean) =>
      (await compared(gate(withResults()), gate(withResults(advisory), { strict }))).verdict;
    expect(await verdict(false)).toBe("no regression");
    expect(await verdict(true)).toBe("regressed");
  });

  it("show changed observations, and are drifted if a pinned one changed", async () => {
    const other = ruleThat.observed("authorize.redirect", '{"status":302}');
    const drifted = await compared(gate(withResults()), gate(withResults(other)));
    expect(drifted.verdict).toBe("no regression");
    const pinned = { "authorize.redirect": '{"status":200,"where":"json"}' };
    const broken = await compared(gate(withResults()), gate(withResults(other), { pinned }));
    expect(broken.verdict).toBe("drifted");
    expect(show(broken)).toContain("A pinned observation changed.");
  });

  it("are refused if their settings differ, unless forced", async () => {
    const base = gate(withResults(), { effort: "quick" });
    const head = gate(withResults(), { limits: { ...recordOf().limits, codeLifetimeMs: 1 } });
    expect(await problemOf(compared(base, head))).toMatch(
      /are not comparable: they differ in effort: quick \/ standard, limits: .*; --force compares them/,
    );
    const { cases } = comparisonSuite(await compared(base, head, true), 3);
    expect(cases.filter(({ group }) => group.startsWith("forced"))).toMatchObject([
      { name: "effort", status: "skipped", message: "incomplete: quick / standard" },
      { name: "limits", status: "skipped" },
    ]);
    const more = gate(withResults(), { selected: ["code.unknown", "code.lifetime"] });
    const fewer = gate(withResults(), { selected: ["code.lifetime"] });
    expect(await problemOf(compared(more, fewer))).toContain("differ in rules: code.unknown / (none);");
  });

  it("are comparable if they differ only in the behaviour of the embedded fake", async () => {
    const fake = (behaviour: string): Partial<RunRecord> => ({
      target: { ...recordOf().target, name: `embedded fake (${behaviour})`, behaviour },
    });
    const result = await compared(gate(withResults(), fake("sound")), gate(withResults(), fake("broken")));
    expect(result).toMatchObject({ differences: [], head: { target: "embedded fake", behaviour: "broken" } });
    const loads = await Promise.all(
      ["sound", "slow"].map((behaviour) =>
        made.load({
          seed: 1,
          seconds: 2,
          requests: 200,
          record: {
            target: { name: `fake (${behaviour})`, baseUrl: "http://127.0.0.1:1", profiles: [], behaviour },
            fingerprint: { target: `fake (${behaviour})`, scenario: "mixed" },
          },
        }),
      ),
    );
    expect(await compared(loads.slice(0, 1), loads[1] as Run)).toMatchObject({ differences: [] });
  });

  it("are regressed even if forced", async () => {
    const quick = gate(withResults(failing("code.single-use")), { effort: "quick" });
    expect((await compared(gate(withResults()), quick, true)).verdict).toBe("regressed");
  });

  it("are incomplete, with what is missing, if they did not judge the same rules", async () => {
    const whole = gate(withResults());
    const lost = gate(withResults(unable("code.lifetime")), { outcome: "incomplete", exitCode: 3 });
    const result = await compared(whole, lost);
    expect(result.verdict).toBe("incomplete");
    expect(result.lacking).toEqual([
      {
        side: "head",
        what: "the run",
        why: expect.stringMatching(/^1 of \d+ rules could not be judged$/) as string,
      },
      { side: "head", what: "code.lifetime", why: "could not run" },
    ]);
    const other = await compared(lost, whole);
    expect(other.verdict).toBe("incomplete");
    expect(other.lacking.map(({ side }) => side)).toEqual(["base", "base"]);
  });

  it.each([
    [
      "whose target was down",
      { rules: [], outcome: "incomplete", exitCode: 4 },
      /\d+ rules were not reached/,
    ],
    [
      "that was interrupted after one rule",
      { rules: allPassed().slice(0, 1), outcome: "interrupted", exitCode: 130 },
      /it was interrupted/,
    ],
    ["that was cut off", { state: "open", outcome: undefined, exitCode: undefined }, /it was cut off/],
    [
      "in which 32 rules could not run",
      {
        rules: allPassed().map((result, at) => (at < 32 ? unable(result.id) : result)),
        outcome: "incomplete",
      },
      /32 of \d+ rules could not be judged/,
    ],
  ] as const)("are incomplete, without a tick, with a head run %s", async (_, more, why) => {
    const selected = allPassed().map(({ id }) => id);
    const head = gate(withResults(), { selected, ...(more as Partial<RunRecord>) });
    const result = await compared(gate(withResults()), head);
    expect(result.verdict).toBe("incomplete");
    expect(show(result)).toMatch(why);
    expect(show(result)).not.toContain("✓");
  });

  it("are regressed even if the head run is incomplete", async () => {
    const head = gate(withResults(failing("code.single-use"), unable("code.lifetime")), {
      outcome: "failed",
    });
    expect((await compared(gate(withResults()), head)).verdict).toBe("regressed");
  });

  it("are incomplete if both left a required rule unjudged, although another one failed in both", async () => {
    const broken = withResults(failing("code.single-use"), unable("code.lifetime"));
    const result = await compared(gate(broken, { outcome: "failed" }), gate(broken, { outcome: "failed" }));
    expect(result.verdict).toBe("incomplete");
    expect(result.lacking.map(({ side, what }) => `${side}: ${what}`)).toEqual([
      "head: the run",
      "base: the run",
    ]);
    const advisory = withResults(failing("code.single-use"), unable("exchange.no-store"));
    expect((await compared(gate(advisory), gate(advisory))).verdict).toBe("no regression");
  });

  it("are complete if an advisory rule could be judged in neither", async () => {
    const result = withResults(unable("exchange.no-store"));
    expect((await compared(gate(result), gate(result))).verdict).toBe("no regression");
  });

  it("have the last complete one of several earlier runs as their base", async () => {
    const [whole, cut] = [gate(withResults()), gate(withResults(), { outcome: "interrupted" })];
    const result = await compared([whole, cut], gate(withResults()));
    expect(result).toMatchObject({
      verdict: "no regression",
      base: { directory: whole.directory },
      leftOut: [{ directory: cut.directory, reason: "it was interrupted" }],
    });
  });
});

it("a page states above the verdict that the comparison was forced", async () => {
  const forced = await compared(gate(withResults()), gate(withResults(), { effort: "quick" }), true);
  const html = asPage(compareDoc(forced));
  expect(html.indexOf("Comparison forced")).toBeLessThan(html.indexOf("<h1"));
  expect(html.indexOf("Comparison forced")).toBeGreaterThan(0);
});

it("comparisons are valid under their schema, and show nothing that acts on a terminal", async () => {
  const spec = { seconds: 2, requests: 40 };
  const [base, later] = [await made.load({ seed: 1, ...spec }), await made.load({ seed: 2, ...spec })];
  const isHostile = gate(withResults(ruleThat.failed("code.single-use", "a", hostile)));
  for (const comparison of [
    await compared(gate(withResults()), isHostile),
    await compared(base, later),
    await compared(Array<Run>(10).fill(base), later),
  ]) {
    const text = jsonFile({ tool: "1", exitCode: 1, comparison });
    expect(text).not.toMatch(unsafeCharacters);
    expect(checkOf(StoredComparison)(JSON.parse(text), "it")).toMatchObject({ comparison });
  }
});

it("baselineOf a folder returns the earlier runs of the same kind and fingerprint", async () => {
  const folder = path.join(made.home, "folder");
  const at = (day: number) => ({ startedAt: `2030-01-0${day}T00:00:00.000Z` });
  const write = (name: string, spec: Partial<LoadRunSpec>): void => {
    writeLoadRun(path.join(folder, name), { seed: 1, seconds: 2, requests: 200, ...spec });
  };
  write("b", { record: at(2) });
  write("a", { record: at(3) });
  write("later", { record: at(9) });
  write("other", { record: { ...at(1), fingerprint: { scenario: "token" } } });
  writeGateRun(path.join(folder, "gate"), { seed: 1, exchanges: 2 });
  write("head", { record: at(5) });
  const head = await readRun(path.join(folder, "head"));
  const { runs, leftOut } = await baselineOf(folder, head);
  expect(runs.map(({ directory }) => path.basename(directory))).toEqual(["b", "a"]);
  expect(leftOut.map(({ directory, reason }) => `${path.basename(directory)}: ${reason}`)).toEqual([
    "gate: it is a gate run",
    "later: it is not an earlier run",
    "other: it differs in machine, rate, scenario, shape",
  ]);
  symlinkSync(path.join(folder, "a"), path.join(folder, "linked"));
  const beside = await baselineOf(folder, head, [path.join(folder, "b")]);
  expect(beside.runs.map(({ directory }) => path.basename(directory))).toEqual(["a"]);
});
