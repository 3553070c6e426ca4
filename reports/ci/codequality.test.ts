import { describe, expect, it } from "vitest";
import { failedRule, gateRun, missingRule, suites } from "../testing/ci-runs.ts";
import { withResults } from "../testing/fixture.ts";
import type { RecordedRun } from "../read/index.ts";
import { renderCodeQuality } from "./codequality.ts";

const red = gateRun(withResults(failedRule), { outcome: "failed", exitCode: 1 });
type Issue = Readonly<Record<string, unknown>> & { readonly fingerprint: string };
const issuesOf = (run: RecordedRun, place: Partial<Parameters<typeof renderCodeQuality>[1]> = {}) =>
  JSON.parse(renderCodeQuality(suites(run), { profile: undefined, ...place })) as readonly Issue[];

describe("GitLab's code quality report", () => {
  it("has an issue with all required fields for each broken rule", () => {
    expect(issuesOf(red)).toEqual([
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
