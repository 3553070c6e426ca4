import { symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { RuleResult, RunRecord } from "../../conformance/contract/record.ts";
import { readRun, type GateRun, type LoadRun, type Run } from "../read/index.ts";
import { comparisonSuite } from "../ci/compared.ts";
import { compareDoc } from "../document/compare.ts";
import { asPage, countOf, headlineIn, onTerminal, textOf } from "../testing/shown.ts";
import { allPassed, breachOf, recordOf, resultOf, ruleThat, withResults } from "../testing/fixture.ts";
import { compared, madeRuns } from "../testing/made-runs.ts";
import { writeGateRun, writeLoadRun, type LoadRunSpec } from "../testing/records.ts";
import { seededRandom } from "../../conformance/contract/random.ts";
import { baselineOf, type Comparison } from "./index.ts";
import { compareWithLimits } from "./limits.ts";
import { readComparison, storedComparison } from "./stored.ts";
import { hostile, unsafeCharacters } from "../testing/hostile.ts";
import { problemOf } from "../../conformance/testing/errors.ts";

const made = madeRuns();
const gate = (rules: readonly RuleResult[], more: Partial<RunRecord> = {}): GateRun =>
  made.gate({ rules, ...more });
const load = (spec: Partial<LoadRunSpec> & { seed: number }): Promise<LoadRun> =>
  made.load({ seconds: 24, requests: 3_600, ...spec });

const show = (comparison: Comparison): string => onTerminal(compareDoc(comparison));

const pageOf = (comparison: Comparison): string => asPage(compareDoc(comparison));

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
    if (result.kind !== "conform") throw new Error("it compares no rules");
    expect(result.verdict).toBe("regressed");
    expect(Object.fromEntries(result.rules.changes.map(({ id, change }) => [id, change]))).toMatchObject({
      "code.lifetime": "newly failing",
      "code.single-use": "fixed",
      "code.unknown": "still failing",
      "refresh.lifetime": "able again",
      "access.lifetime": "newly unable",
    });
    expect(show(result)).toContain("Expected  it is refused");
    const { cases } = comparisonSuite(result, 1);
    expect(Object.fromEntries(cases.map(({ name, status }) => [name, status]))).toMatchObject({
      "code.lifetime": "failed",
      "code.single-use": "passed",
      "code.unknown": "passed",
      "access.lifetime": "skipped",
    });
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
    expect(show(drifted)).toMatch(/authorize\.redirect +status: 200, where: json +status: 302/);
    const pinned = { "authorize.redirect": '{"status":200,"where":"json"}' };
    const broken = await compared(gate(withResults()), gate(withResults(other), { pinned }));
    expect(broken.verdict).toBe("drifted");
    expect(show(broken)).toContain("A pinned observation changed.");
  });

  it("are refused if their settings differ, unless forced, which the output states first", async () => {
    const base = gate(withResults(), { effort: "quick" });
    const head = gate(withResults(), { limits: { ...recordOf().limits, codeLifetimeMs: 1 } });
    expect(await problemOf(compared(base, head))).toMatch(
      /are not comparable: they differ in effort: quick \/ standard, limits: .*; --force compares them/,
    );
    const forced = show(await compared(base, head, true));
    expect(forced.split("\n")[0]).toBe("Comparison forced: these runs differ in effort, limits");
    expect(forced).toContain("? Forced: the two runs did not make the same checks.");
    expect(forced).not.toContain("✓");
    const { cases } = comparisonSuite(await compared(base, head, true), 3);
    expect(cases.filter(({ group }) => group.startsWith("forced"))).toMatchObject([
      { name: "effort", status: "skipped", message: "quick / standard" },
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
        load({
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

  it("are compared after an alteration if forced, which the output states first", async () => {
    const altered = [{ file: "rules.jsonl", change: "size", detail: "" }] as const;
    const result = await compared(
      { ...gate(withResults()), alterations: altered },
      gate(withResults()),
      true,
    );
    expect(show(result).split("\n")[0]).toMatch(
      /^Reading forced: runs\/gate-\d+ was altered .*\(rules\.jsonl\)\.$/,
    );
    expect(result.verdict).toBe("incomplete");
    expect(show(result)).not.toContain("✓");
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
    const text = show(result);
    expect(text).toContain("No longer judged");
    expect(text).toMatch(/head +could not run +code\.lifetime/);
    expect(text).not.toContain("✓");
    const other = await compared(lost, whole);
    expect(other.verdict).toBe("incomplete");
    expect(other.lacking.map(({ side }) => side)).toEqual(["base", "base"]);
  });

  it.each([
    [
      "whose target was down",
      { rules: [], outcome: "incomplete", exitCode: 3 },
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

  it("have the verdict no regression if nothing changed", async () => {
    const result = await compared(gate(withResults()), gate(withResults()));
    expect(result).toMatchObject({ verdict: "no regression", rules: { changes: [], drift: [] } });
    expect(show(result)).toContain("✓ Nothing newly fails.");
  });
});

describe("two load runs", () => {
  it("show latencies with intervals of their ratios, without judging them", async () => {
    const result = await compared(await load({ seed: 1 }), await load({ seed: 2, slowness: 1.5 }));
    if (result.kind !== "load") throw new Error("it compares no load");
    expect(result.load.latencies).toHaveLength(9);
    for (const one of result.load.latencies.filter(({ quantile }) => quantile === "p50")) {
      expect(one.interval.low).toBeLessThan(1.5);
      expect(one.interval.high).toBeGreaterThan(1.2);
      expect(one.by).toBe("blocks");
    }
    expect(result.load.distributions[0]?.base.reduce((sum, value) => sum + value, 0)).toBeCloseTo(1, 6);
    expect(result).toMatchObject({ verdict: "no regression" });
    expect(result.unjudged).toBe(
      "one run cannot tell a change from chance; 10 or more valid ones of the same fingerprint can",
    );
    expect(show(result)).toContain("Speed is shown, not judged");
  });

  it("are regressed if a rule newly fails under load", async () => {
    const result = await compared(await load({ seed: 1 }), await load({ seed: 1, breaches: 3 }));
    expect(result.verdict).toBe("regressed");
    expect(show(result)).toMatch(/code\.single-use +newly failing +0 +3/);
  });

  it("are regressed if an objective with the same limit is newly missed", async () => {
    const withErrors = (measured: number, limit = 0.01, more = {}) =>
      load({
        seed: 1,
        record: {
          objectives: [
            {
              name: "list errors",
              limit,
              unit: "share",
              bound: "at most",
              measured,
              verdict: measured > limit ? "breached" : "held",
            },
          ],
          ...more,
        },
      });
    const [good, bad] = [await withErrors(0), await withErrors(0.31)];
    const result = await compared(good, bad);
    expect(result.verdict).toBe("regressed");
    expect(show(result)).toMatch(/list errors +newly missed +at most 1 % +0 % +31 %/);
    expect(show(result)).toContain("0 promises newly broken and 1 objective newly missed");
    expect((await compared(bad, good)).verdict).toBe("no regression");
    expect((await compared(bad, bad)).verdict).toBe("no regression");
    expect((await compared(await withErrors(0.31, 0.5), bad)).verdict).toBe("no regression");
    const invalid = await withErrors(0.31, 0.01, { validity: { valid: false, reasons: [] } });
    expect((await compared(good, invalid)).verdict).toBe("incomplete");
  });

  it.each([
    ["sent no request", { achieved: undefined, endpoints: [], rules: [] }, "it sent no requests"],
    ["ended early", { stopped: "the target is down" }, "it ended early: the target is down"],
    ["was interrupted", { outcome: "interrupted" as const }, "it was interrupted"],
  ])("are incomplete, without a tick, if the head run %s", async (_, record, why) => {
    const head = await load({ seed: 2 });
    const result = await compared(await load({ seed: 1 }), {
      ...head,
      record: { ...head.record, ...(record as Partial<typeof head.record>) },
    });
    expect(result.verdict).toBe("incomplete");
    expect(result.lacking[0]).toEqual({ side: "head", what: "the run", why });
    expect(show(result)).not.toContain("✓");
  });

  it("are incomplete if an endpoint is missing in one of them", async () => {
    const base = await load({ seed: 1 });
    const head = await load({ seed: 2 });
    const endpoints = head.record.endpoints.filter(({ endpoint }) => endpoint !== "list");
    const result = await compared(base, { ...head, record: { ...head.record, endpoints } });
    expect(result).toMatchObject({
      verdict: "incomplete",
      lacking: [{ side: "head", what: "endpoint list", why: "not checked" }],
    });
  });

  it("come with a warning if one is invalid", async () => {
    const validity = { valid: false, reasons: [{ reason: "9 iterations were dropped", remedy: "" }] };
    const result = await compared(await load({ seed: 1 }), await load({ seed: 2, record: { validity } }));
    expect(show(result)).toContain("the head run is invalid: 9 iterations were dropped");
  });

  it("are refused if one of them is a gate run", async () => {
    expect(await problemOf(compared(gate([]), await load({ seed: 1 }), true))).toMatch(
      /give two runs of one kind$/,
    );
    expect(await problemOf(compared([], await load({ seed: 1 })))).toContain("give two or more");
  });
});

describe("a load run against ten earlier ones", () => {
  const tenRuns = (): Promise<LoadRun[]> =>
    Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        load({ seed: at, seconds: 4, requests: 1_200, slowness: 20 * (1 + 0.02 * (at % 3)) }),
      ),
    );

  it("is judged by prediction limits", async () => {
    const bases = await tenRuns();
    const usual = await compared(
      bases,
      await load({ seed: 30, seconds: 4, requests: 1_200, slowness: 20.4 }),
    );
    const slow = await compared(bases, await load({ seed: 31, seconds: 4, requests: 1_200, slowness: 34 }));
    expect([usual.verdict, slow.verdict]).toEqual(["no regression", "regressed"]);
    expect(show(slow)).toContain("Against 10 earlier runs");
    expect(show(slow)).toMatch(/list +p50 .* slower/);
    const html = pageOf(slow);
    expect(headlineIn(html)).toBe("The head run is worse than the base.");
    expect(countOf(html, "change-dot regressed")).toBeGreaterThan(0);
    expect(textOf(html)).toMatch(/Against 10 earlier runs .* slower/);
  });

  it("is not judged if fewer than ten earlier runs are valid and complete", async () => {
    const bases = await tenRuns();
    const invalid = { validity: { valid: false, reasons: [{ reason: "dropped", remedy: "" }] } };
    const result = await compared(
      [...bases.slice(1), await load({ seed: 40, record: invalid })],
      await load({ seed: 41 }),
      true,
    );
    if (result.kind !== "load") throw new Error("it compares no load");
    expect(result.limits).toBeUndefined();
    expect(result.leftOut).toMatchObject([{ reason: "it is invalid" }]);
    expect(result.unjudged).toContain("9 runs cannot tell");
  });

  it("raises few false alarms over all metrics despite noise between runs", async () => {
    const { record } = await load({ seed: 1, seconds: 2, requests: 200 });
    const random = seededRandom(9);
    const vary = (): typeof record => {
      const level = Math.exp(0.2 * (random() + random() - 1));
      const scaled = (row: (typeof record.endpoints)[number]) => {
        const ms = 50 * level * Math.exp(0.1 * (random() - 0.5));
        return { ...row, response: { ...row.response, p50Ms: ms, p95Ms: 2 * ms, p99Ms: 3 * ms } };
      };
      return { ...record, endpoints: record.endpoints.map(scaled) };
    };
    let alarms = 0;
    for (let round = 0; round < 400; round += 1)
      if (
        compareWithLimits(Array.from({ length: 10 }, vary), vary()).metrics.some(
          ({ verdict }) => verdict !== "usual",
        )
      )
        alarms += 1;
    expect(alarms).toBeLessThan(30);
  });

  it("reports a higher share of failed requests", async () => {
    const bases = (await tenRuns()).map(({ record }) => record);
    const head = (await load({ seed: 50, seconds: 4, requests: 1_200, slowness: 20.4, failedShare: 0.05 }))
      .record;
    expect(compareWithLimits(bases, head).metrics.at(-1)).toMatchObject({
      metric: "failed share",
      verdict: "more failures",
    });
  });
});

describe("the page of two runs of the gate", () => {
  it("begins with the verdict, and lists the changes rule by rule", async () => {
    const drifted = ruleThat.observed("authorize.redirect", '{"status":302}');
    const html = pageOf(
      await compared(
        gate(withResults(failing("code.single-use"))),
        gate(withResults(failing("code.lifetime"), drifted)),
      ),
    );
    expect(headlineIn(html)).toBe("The head run is worse than the base.");
    const text = textOf(html);
    expect(text).toContain("1 rule newly failing, 1 fixed, 0 no longer judged; 1 observation changed;");
    expect(text).toMatch(
      /Newly failing failed code\.lifetime passed before, failed now .* Seen it is granted/,
    );
    expect(text).toMatch(/Fixed passed code\.single-use failed before, passed now/);
    expect(text).toMatch(/authorize\.redirect .* status: 302/);
  });

  it("states above the verdict that the comparison was forced", async () => {
    const html = pageOf(await compared(gate(withResults()), gate(withResults(), { effort: "quick" }), true));
    expect(html.indexOf("Comparison forced")).toBeLessThan(html.indexOf("<h1"));
    expect(html.indexOf("Comparison forced")).toBeGreaterThan(0);
  });
});

describe("the page of load runs", () => {
  it("overlays the distributions of two runs with the change of each percentile, without judging them", async () => {
    const html = pageOf(await compared([await load({ seed: 1 })], await load({ seed: 2 })));
    expect(headlineIn(html)).toBe("No metric is judged worse.");
    const endpoints = countOf(html, "head-hill");
    expect(endpoints).toBeGreaterThan(0);
    expect(countOf(html, "base-hill")).toBe(endpoints);
    expect(textOf(html)).toContain("Speed is shown, not judged: one run cannot tell a change from chance");
    expect(textOf(html)).toMatch(/p95 \d[\d.]* m?s to \d/);
  });
});

it("a stored comparison reads back as it was, and shows nothing that acts on a terminal", async () => {
  const head = gate(withResults(ruleThat.failed("code.single-use", "a", hostile)));
  const comparison = await compared(gate(withResults()), head);
  const [file, text] = storedComparison(made.home, { tool: "1", exitCode: 1, comparison });
  expect(text).not.toMatch(unsafeCharacters);
  writeFileSync(file, text);
  expect(readComparison(made.home, "1")?.comparison).toEqual(comparison);
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
