import { readFileSync } from "node:fs";
import path from "node:path";
import { validateXML } from "xmllint-wasm";
import { describe, expect, it } from "vitest";
import { problemsOf as annotated } from "./problems.ts";
import { failedRule, gateRun, hostileRun, loadRun, missingRule, suites } from "../testing/ci-runs.ts";
import { recordOf, ruleThat, withResults } from "../testing/fixture.ts";
import { renderJunit, xmlDocument } from "./junit.ts";

const schema = readFileSync(path.join(import.meta.dirname, "../testing/junit.xsd"), "utf8");

const problemsOf = async (contents: string): Promise<readonly string[]> => {
  const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents }], schema: [schema] });
  return errors.map(({ message }) => message);
};

const render = (...runs: Parameters<typeof suites>): string => renderJunit(suites(...runs));
const passing = gateRun(withResults());

/** The first test case with this name, with its content. */
const elementOf = (xml: string, name: string): string =>
  new RegExp(`<testcase name="${name}"[^]*?(?:</testcase>|/>)`).exec(xml)?.[0] ?? "";

describe("JUnit XML", () => {
  it.each([
    ["a passed gate", [passing]],
    [
      "a failed gate and a load",
      [gateRun(withResults(failedRule), { outcome: "failed", exitCode: 1 }), loadRun()],
    ],
    ["two gates and two loads", [passing, passing, loadRun(), loadRun()]],
    ["hostile texts", [hostileRun]],
    ["a run without a rule", [gateRun([])]],
    ["no run", []],
  ])("of %s is valid", async (_, runs) => {
    expect(await problemsOf(render(...runs))).toEqual([]);
  });

  it("is checked by a schema that rejects invalid documents", async () => {
    const twice = `<testcase name="a" classname="b" time="0.000"/>`;
    const suite = (inner: string): string =>
      `<testsuites><testsuite name="x" tests="1" failures="0" errors="0" time="0.000">${inner}</testsuite></testsuites>`;
    expect(await problemsOf(suite(twice))).toEqual([]);
    expect(await problemsOf(suite(twice + twice))).not.toEqual([]);
    expect(await problemsOf(suite(`<testcase name="a" classname="b" time="-1"/>`))).not.toEqual([]);
  });

  it("gives cases times that add up to the wall time of their run", () => {
    const xml = render(passing, loadRun());
    const times = (name: string): readonly number[] =>
      [...xml.matchAll(new RegExp(`<${name} [^>]*?time="([0-9.]+)"`, "g"))].map(([, time]) => Number(time));
    const wall = ({ startedAt, endedAt = startedAt }: { startedAt: string; endedAt?: string }): number =>
      (Date.parse(endedAt) - Date.parse(startedAt)) / 1_000;
    const expected = [passing.record, loadRun().record].map(wall);
    expect(times("testsuite")).toEqual(expected);
    expect(times("testsuites")).toEqual([expected.reduce((sum, one) => sum + one)]);
    const sums = xml
      .split("<testsuite ")
      .slice(1)
      .map((suite) =>
        [...suite.matchAll(/<testcase [^>]*time="([0-9.]+)"/g)].reduce(
          (sum, [, time]) => sum + Number(time),
          0,
        ),
      );
    sums.forEach((sum, at) => expect(sum).toBeCloseTo(expected[at] ?? 0, 6));
  });

  it("writes a broken rule as a failure with expectation, observation and replay command", () => {
    const xml = render(gateRun(withResults(failedRule), { outcome: "failed", exitCode: 1 }));
    const element = elementOf(xml, "code.single-use");
    expect(element).toContain('<failure message="it yielded a token" type="failed">');
    for (const words of [
      "expected: the second exchange is refused",
      "seen: it yielded a token",
      "touchstone replay runs/one code.single-use",
    ])
      expect(element).toContain(words);
    expect(xml).toMatch(/<testsuite name="touchstone gate" tests="\d+" failures="1" errors="0"/);
  });

  it("writes a rule that could not run as skipped, and the suite as incomplete", () => {
    const xml = render(gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 }));
    expect(elementOf(xml, "refresh.lifetime")).toContain(
      '<skipped message="could not run: it would take 30 days; hooks.clock.advance is missing"/>',
    );
    const broken = gateRun(withResults(failedRule, missingRule), { outcome: "failed", exitCode: 1 });
    for (const text of [xml, render(broken)]) {
      expect(text).toContain('<property name="incomplete" value="true"/>');
      expect(text).toMatch(/<property name="whyIncomplete" value="1 of \d+ rules could not be judged"\/>/);
    }
    expect(render(passing)).toContain('<property name="incomplete" value="false"/>');
  });

  it("writes rules that the run did not reach as skipped", () => {
    const xml = render(gateRun([], { selected: ["code.lifetime"], outcome: "interrupted", exitCode: 130 }));
    expect(elementOf(xml, "code.lifetime")).toContain(
      '<skipped message="not reached: the run ended before"/>',
    );
    expect(xml).toContain('<property name="incomplete" value="true"/>');
  });

  it("writes a harness error as an error, and a warning as a failure only in a strict run", () => {
    const xml = render(hostileRun);
    expect(elementOf(xml, "code.independence")).toContain("<error ");
    expect(elementOf(xml, "code.bound-to-client")).toContain("<system-out>warned");
    const { cases: _, ...record } = hostileRun.record;
    const strict = { ...hostileRun, record: recordOf({ ...record, strict: true }) };
    expect(elementOf(render(strict), "code.bound-to-client")).toContain("<failure ");
  });

  it("writes a pinned observation that changed as a failure", () => {
    const seen = ruleThat.observed("authorize.redirect", '{"status":302}');
    const pinned = { "authorize.redirect": '{"status":200}' };
    const run = gateRun(withResults(seen), { outcome: "drifted", exitCode: 6, pinned });
    expect(elementOf(render(run), "authorize.redirect")).toContain('type="drifted"');
  });

  it("writes a waived breach as skipped, and a stale waiver as a failure", () => {
    const waiver = { id: "code.single-use", reason: "known", owner: "the token team", expires: "2030-02-01" };
    const waivers = [
      { ...waiver, state: "active" as const },
      { ...waiver, id: "access.header", state: "stale" as const },
    ];
    const xml = render(gateRun(withResults(failedRule), { waivers, outcome: "failed", exitCode: 1 }));
    expect(elementOf(xml, "code.single-use")).toContain(
      '<skipped message="failed: it yielded a token; waived until 2030-02-01 by the token team: known"/>',
    );
    expect(elementOf(xml, "waiver of access.header")).toContain(
      '<failure message="stale: the rule no longer fails"',
    );
  });

  it("has a case for each objective and each rule of a load", () => {
    const xml = render(loadRun());
    expect(elementOf(xml, "objective list p95")).toContain(
      "at most 8.00 ms; 9.40 ms (95 % interval 8.90 ms to 10.1 ms)",
    );
    expect(elementOf(xml, "objective list p95")).toContain("<failure");
    expect(elementOf(xml, "objective exchange p99")).toContain("<skipped");
    const incomplete = render(loadRun({ outcome: "incomplete", exitCode: 3 }));
    expect(elementOf(incomplete, "objective list p95")).toContain("<skipped");
    expect(elementOf(xml, "code.single-use under load")).toContain(
      "broken 2 times in 900 checks: both succeeded",
    );
    expect(elementOf(xml, "refresh.reusable under load")).toContain(
      '<skipped message="not checked: no refresh in this scenario"/>',
    );
  });

  it("writes an invalid load as skipped and incomplete", () => {
    const validity = {
      valid: false,
      reasons: [{ reason: "12 iterations were dropped", remedy: "ask for less" }],
    };
    const xml = render(loadRun({ validity, outcome: "incomplete", exitCode: 3 }));
    expect(elementOf(xml, "the load is valid")).toContain(
      '<skipped message="not valid: 12 iterations were dropped: ask for less"/>',
    );
    expect(xml).toContain('<property name="incomplete" value="true"/>');
  });
});

describe("a load that failed although no objective was missed and no rule broken", () => {
  const failed = { objectives: [], rules: [], breaches: [], outcome: "failed", exitCode: 1 } as const;

  it("fails a case with the reason why it was given up", () => {
    const stopped = "more than 50 % of the requests failed for 5 consecutive seconds";
    const run = loadRun({ ...failed, stopped });
    const xml = render(run);
    expect(xml).toContain('<testsuites name="Touchstone" tests="2" failures="1"');
    expect(elementOf(xml, "the load is valid")).not.toContain("<skipped");
    expect(elementOf(xml, "the load ran to its end")).toContain(`<failure message="${stopped}"`);
    expect(annotated(suites(run))[0]).toMatchObject({ title: "The load failed", message: stopped });
  });

  it("fails a case if a ramp found no rate", () => {
    const found = elementOf(
      render(loadRun({ ...failed, breakpoint: { heldTo: 0, endedAt: 12 } })),
      "the ramp found a rate",
    );
    expect(found).toContain(
      '<failure message="An objective was missed from the lowest rate of the ramp on."',
    );
  });
});

it("says of a load that ended early why, without blaming the service for it", () => {
  const more = { objectives: [], rules: [], breaches: [], stopped: "k6 gave up" };
  const xml = render(loadRun({ ...more, outcome: "incomplete", exitCode: 3 }));
  expect(elementOf(xml, "the load ran to its end")).toContain('<skipped message="ended early: k6 gave up"/>');
  const crashed = render(loadRun({ ...more, outcome: "harness-error", exitCode: 5 }));
  expect(elementOf(crashed, "the load is valid")).toContain("<error");
});

it("never writes an interrupted load as a valid one", () => {
  const xml = render(loadRun({ outcome: "interrupted", exitCode: 130 }));
  expect(elementOf(xml, "the load is valid")).toContain(
    '<skipped message="interrupted: objectives and rules cover only',
  );
});

describe("XML", () => {
  it("omits characters that XML cannot contain, and escapes markup", () => {
    const text = `a\u0000\u0008\u001b\ufffe\ud800<b>&"c"\n\td]]>`;
    expect(xmlDocument({ name: "x", attributes: { y: text, none: undefined }, children: [text] })).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<x y="a&lt;b&gt;&amp;&quot;c&quot;&#10;&#9;d]]&gt;">a&lt;b&gt;&amp;"c"\n\td]]&gt;</x>\n`,
    );
  });
});
