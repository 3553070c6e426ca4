import { describe, expect, it } from "vitest";
import { failedRule, gateRun, missingRule } from "../testing/ci-runs.ts";
import { withResults } from "../testing/fixture.ts";
import { renderCodeQuality } from "./codequality.ts";

const red = gateRun(withResults(failedRule), { outcome: "failed", exitCode: 1 });
type Issue = Readonly<Record<string, unknown>> & { readonly fingerprint: string };
const issuesOf = (...given: Parameters<typeof renderCodeQuality>): readonly Issue[] =>
  JSON.parse(renderCodeQuality(...given)) as Issue[];

describe("GitLab's code quality report", () => {
  it("has an issue with all required fields for each broken rule", () => {
    expect(issuesOf([red], { program: "touchstone" })).toEqual([
      {
        description: expect.stringMatching(/^code\.single-use is broken: \S/),
        check_name: "gate code.single-use",
        fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/),
        severity: "critical",
        location: { path: ".gitlab-ci.yml", lines: { begin: 1 } },
      },
    ]);
  });

  it("is empty if nothing failed, and has an issue for an incomplete run", () => {
    expect(issuesOf([gateRun(withResults())], { program: "touchstone" })).toEqual([]);
    const open = gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 });
    expect(issuesOf([open], { program: "touchstone" })).toMatchObject([
      { check_name: "gate is not complete", severity: "info" },
    ]);
  });

  it("gives a breach the same fingerprint in every run, and another issue a different one", () => {
    const [first] = issuesOf([red], { program: "touchstone" });
    const later = { ...red, run: "runs/later" } as typeof red;
    expect(issuesOf([later], { program: "npx touchstone-harness" })[0]?.fingerprint).toBe(first?.fingerprint);
    const underLoad = gateRun(withResults(missingRule), { outcome: "incomplete", exitCode: 3 });
    expect(issuesOf([underLoad], { program: "touchstone" })[0]?.fingerprint).not.toBe(first?.fingerprint);
  });

  it("locates issues in the profile if it is in the repository", () => {
    const at = (profile: string) => {
      const { record } = red;
      const run = { ...red, record: { ...record, target: { ...record.target, profiles: [profile] } } };
      return issuesOf([run as typeof red], { program: "touchstone", root: "/builds/shop" })[0]?.["location"];
    };
    expect(at("/builds/shop/gate/touchstone.config.ts")).toMatchObject({
      path: "gate/touchstone.config.ts",
    });
    expect(at("/etc/touchstone.config.ts")).toMatchObject({ path: ".gitlab-ci.yml" });
  });
});
