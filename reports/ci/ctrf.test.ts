import { validateStrict } from "ctrf";
import { describe, expect, it } from "vitest";
import { failedRule, gateRun, hostileRun, loadRun, missingRule, suites } from "../testing/ci-runs.ts";
import { withResults } from "../testing/fixture.ts";
import { renderCtrf } from "./ctrf.ts";

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

  it("has a trace for a failed rule, and skips a rule that was not judged", () => {
    const { tests } = parsed(gateRun(withResults(failedRule, missingRule), { outcome: "failed" })).results;
    const of = (name: string) => tests.find((test) => test.name === name);
    expect(of("code.single-use")).toMatchObject({
      status: "failed",
      trace: expect.stringContaining("touchstone replay") as string,
    });
    expect(of("refresh.lifetime")?.status).toBe("skipped");
  });
});
