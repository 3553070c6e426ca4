import { jsonFile } from "../../conformance/contract/harmless-text.ts";
import type { CiCase, CiSuite } from "./cases.ts";

const statuses = { passed: "passed", failed: "failed", error: "other", skipped: "skipped" } as const;
type Status = (typeof statuses)[CiCase["status"]] | "pending";

const statusOf = ({ status, verdict }: CiCase): Status =>
  verdict === "pending" ? "pending" : statuses[status];

/** Runs in the Common Test Report Format (ctrf.io). Only a pass is written as a pass. */
export const renderCtrf = (suites: readonly CiSuite[]): string => {
  const tests = suites.flatMap((suite) => suite.cases.map((one) => testOf(one, suite)));
  const count = (status: Status): number => tests.filter((test) => test.status === status).length;
  const start = Math.min(...suites.map(({ startedAt }) => Date.parse(startedAt)));
  const stop = Math.max(...suites.map(({ startedAt, endedAt }) => Date.parse(endedAt ?? startedAt)));
  const report = {
    reportFormat: "CTRF",
    specVersion: "0.0.0",
    generatedBy: "touchstone",
    results: {
      tool: { name: "touchstone", version: suites[0]?.tool ?? "" },
      summary: {
        tests: tests.length,
        passed: count("passed"),
        failed: count("failed"),
        skipped: count("skipped"),
        pending: count("pending"),
        other: count("other"),
        suites: suites.length,
        start: Number.isFinite(start) ? start : 0,
        stop: Number.isFinite(stop) ? stop : 0,
      },
      tests,
      extra: {
        runs: suites.map((suite) => ({
          ...suite,
          incomplete: suite.incomplete !== undefined,
          whyIncomplete: suite.incomplete,
          cases: suite.cases.length,
        })),
      },
    },
  };
  return jsonFile(report);
};

const testOf = (one: CiCase, suite: CiSuite) => ({
  name: one.name,
  status: statusOf(one),
  duration: one.durationMs,
  suite: ["touchstone", suite.name, one.group],
  rawStatus: one.verdict,
  type: suite.name.startsWith("gate") ? "conformance" : "load",
  message: one.message,
  trace: one.status === "failed" ? one.details : undefined,
});
