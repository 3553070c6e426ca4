import { describe, expect, it } from "vitest";
import { failedRule, gateRun, missingRule, suites, hostileRun, loadRun } from "../testing/ci-runs.ts";
import { withResults, ruleThat, unsafeCharacters } from "../testing/fixture.ts";
import type { RecordedRun } from "../read/index.ts";
import { renderCodeQuality, annotationsOf } from "./problems.ts";
import { validateStrict } from "ctrf";
import { renderCtrf } from "./ctrf.ts";

const red = gateRun(withResults(failedRule), { outcome: "failed", exitCode: 1 });
type Issue = Readonly<Record<string, unknown>> & { readonly fingerprint: string };
const issuesOf = (run: RecordedRun, place: Partial<Parameters<typeof renderCodeQuality>[1]> = {}) =>
  JSON.parse(renderCodeQuality(suites(run), { profile: undefined, ...place })) as readonly Issue[];

describe("GitLab's code quality report", () => {
  it("is empty if nothing failed, and has an issue for an incomplete run", () => {
    expect(issuesOf(gateRun(withResults()))).toEqual([]);
    const open = gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 });
    const issue = { check_name: "gate is not complete", severity: "info" };
    expect(issuesOf(open)).toMatchObject([issue]);
    const broken = gateRun(withResults(failedRule, missingRule), { outcome: "failed", exitCode: 1 });
    expect(issuesOf(broken)).toMatchObject([{ severity: "critical" }, issue]);
  });

  it("gives a breach the same fingerprint in every run, and another issue a different one", () => {
    const [first] = issuesOf(red);
    const later = { ...red, directory: "runs/later" };
    expect(issuesOf(later)[0]?.fingerprint).toBe(first?.fingerprint);
    const underLoad = gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 });
    expect(issuesOf(underLoad)[0]?.fingerprint).not.toBe(first?.fingerprint);
  });

  it("locates issues in the profile if it is in the repository", () => {
    const at = (profile: string) => issuesOf(red, { profile, root: "/builds/shop" })[0]?.["location"];
    expect(at("/builds/shop/gate/touchstone.config.ts")).toMatchObject({
      path: "gate/touchstone.config.ts",
    });
    expect(at("/etc/touchstone.config.ts")).toMatchObject({ path: ".gitlab-ci.yml" });
  });
});

interface Report {
  readonly results: {
    readonly summary: Readonly<Record<string, number>>;
    readonly tests: readonly { readonly name: string; readonly status: string; readonly trace?: string }[];
  };
}

const parsed = (...runs: Parameters<typeof suites>): Report =>
  JSON.parse(renderCtrf(suites(...runs))) as Report;

describe("CTRF", () => {
  it.each([
    ["a passed gate", [gateRun(withResults())]],
    ["a failed gate and a load", [gateRun(withResults(failedRule)), loadRun()]],
    ["hostile texts", [hostileRun]],
    ["a run that was cut off", [gateRun([], { selected: ["code.lifetime"] })]],
    ["no run", []],
  ])("of %s is valid under the CTRF schema", (_, runs) => {
    expect(() => validateStrict(parsed(...runs))).not.toThrow();
  });

  it("counts the tests of each status", () => {
    const { summary, tests } = parsed(hostileRun, loadRun()).results;
    for (const status of ["passed", "failed", "skipped", "pending", "other"])
      expect([status, summary[status]]).toEqual([
        status,
        tests.filter((test) => test.status === status).length,
      ]);
    expect(summary["tests"]).toBe(tests.length);
    expect(new Set(tests.map(({ name }) => name)).size).toBe(tests.length);
  });
});

const github = { GITHUB_ACTIONS: "true" };
const services = [
  ["GitHub Actions", github],
  ["Azure Pipelines", { TF_BUILD: "True" }],
  ["TeamCity", { TEAMCITY_VERSION: "2025.1" }],
] as const;

describe("annotations", () => {
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
