import { readFileSync } from "node:fs";
import path from "node:path";
import { validateXML } from "xmllint-wasm";
import { describe, expect, it } from "vitest";
import { failedRule, gateRun, hostileRun, loadRun, missingRule, suites } from "../testing/ci-runs.ts";
import { recordOf, withResults } from "../testing/fixture.ts";
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

  it("has a failure for a warning in a strict run only, and a suite that is incomplete though a rule broke", () => {
    expect(elementOf(render(hostileRun), "code.bound-to-client")).toContain("<system-out>warned");
    const { cases: _, ...record } = hostileRun.record;
    const strict = { ...hostileRun, record: recordOf({ ...record, strict: true }) };
    expect(elementOf(render(strict), "code.bound-to-client")).toContain("<failure ");
    expect(render(gateRun(withResults(failedRule, missingRule), { outcome: "failed" }))).toContain(
      '<property name="incomplete" value="true"/>',
    );
    expect(render(passing)).toContain('<property name="incomplete" value="false"/>');
  });

  it("skips a missed objective of a load that is incomplete", () => {
    const incomplete = render(loadRun({ outcome: "incomplete", exitCode: 3 }));
    expect(elementOf(incomplete, "objective list p95")).toContain("<skipped");
  });
});

describe("XML", () => {
  it("omits characters that XML cannot contain, and escapes markup", () => {
    const text = `a\u0000\u0008\u001b\ufffe\ud800<b>&"c"\n\td]]>`;
    expect(xmlDocument({ name: "x", attributes: { y: text, none: undefined }, children: [text] })).toBe(
      `<?xml version="1.0" encoding="UTF-8"?>\n<x y="a&lt;b&gt;&amp;&quot;c&quot;&#10;&#9;d]]&gt;">a&lt;b&gt;&amp;"c"\n\td]]&gt;</x>\n`,
    );
  });
});
