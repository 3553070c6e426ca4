import { describe, expect, it } from "vitest";
import { failedRule, gateRun, hostileRun, loadRun, missingRule, suites } from "../testing/ci-runs.ts";
import { ruleThat, withResults } from "../testing/fixture.ts";
import { unsafeCharacters } from "../testing/hostile.ts";
import { annotationsOf } from "./annotations.ts";

const github = { GITHUB_ACTIONS: "true" };
const services = [
  ["GitHub Actions", github, "::error title=code.single-use is broken::The first exchange"],
  [
    "Azure Pipelines",
    { TF_BUILD: "True" },
    "##vso[task.logissue type=error]code.single-use is broken: The first exchange",
  ],
  [
    "TeamCity",
    { TEAMCITY_VERSION: "2025.1" },
    "##teamcity[buildProblem description='code.single-use is broken: The first exchange",
  ],
] as const;
const red = gateRun(withResults(failedRule), { outcome: "failed", exitCode: 1 });

describe("annotations", () => {
  it.each(services)("have the format of %s", (_, environment, begin) => {
    const lines = annotationsOf(suites(red), environment);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.startsWith(begin)).toBe(true);
    expect(lines[0]).toContain("it yielded a token");
  });

  it("are empty if nothing failed, or if no CI service reads them", () => {
    expect(annotationsOf(suites(gateRun(withResults())), github)).toEqual([]);
    expect(annotationsOf(suites(red), {})).toEqual([]);
    expect(annotationsOf(suites(red), { GITLAB_CI: "true" })).toEqual([]);
  });

  it("report an incomplete run", () => {
    const run = gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 });
    const said = `::error title=Touchstone gate is not complete::1 of ${run.record.rules.length} rules could not be judged`;
    expect(annotationsOf(suites(run), github)).toEqual([said]);
    const broken = gateRun(withResults(failedRule, missingRule), { outcome: "failed", exitCode: 1 });
    expect(annotationsOf(suites(broken), github).at(-1)).toBe(said);
  });

  it("report missed objectives and rules that broke under load", () => {
    const lines = annotationsOf(suites(loadRun()), github).join("\n");
    expect(lines).toContain("objective list p95 is broken");
    expect(lines).toContain("code.single-use under load is broken");
  });

  it("are at most ten, and count the rest", () => {
    const broken = withResults().map(({ id }) => ruleThat.failed(id, "x", "y"));
    const lines = annotationsOf(suites(gateRun(broken)), github);
    expect(lines).toHaveLength(10);
    expect(lines.at(-1)).toBe(
      `::error title=Touchstone::${broken.length - 9} further problems; see the report for all`,
    );
  });

  it.each(services)("do not let text of the service start a command on %s", (_, environment) => {
    const lines = annotationsOf(suites(hostileRun), environment);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.flatMap((line) => line.split(/[\r\n]/))).toHaveLength(lines.length);
    for (const line of lines) {
      const most = "TF_BUILD" in environment ? 1 : Infinity;
      expect(line.match(/##vso\[[^\]]*\]/g)?.length ?? 0).toBeLessThanOrEqual(most);
      expect(line).not.toMatch(unsafeCharacters);
    }
  });
});
