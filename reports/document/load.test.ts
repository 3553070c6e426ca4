import { beforeAll, expect, it } from "vitest";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import { gather, type LoadView } from "../gather/gather.ts";
import { readRun } from "../read/index.ts";
import { loadRecordOf } from "../testing/fixture.ts";
import { onTerminal } from "../testing/shown.ts";
import { writeLoadRun } from "../testing/records.ts";
import { loadDoc } from "./load.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";

const folder = folderOfFile();
let view: Required<LoadView>;

beforeAll(async () => {
  const objectives: LoadRecord["objectives"] = [
    {
      name: "list p95",
      bound: "at most",
      limit: 50,
      unit: "ms",
      measured: 12,
      interval: [11, 13],
      verdict: "held",
    },
    {
      name: "failed requests",
      bound: "at most",
      limit: 0.001,
      unit: "share",
      measured: 0.01,
      verdict: "breached",
    },
  ];
  writeLoadRun(folder, {
    seed: 1,
    seconds: 20,
    requests: 2_000,
    breaches: 3,
    failedShare: 0.01,
    record: { objectives, notes: ["a note"] },
  });
  const gathered = (await gather(await readRun(folder))) as Required<LoadView>;
  view = { ...gathered, directory: "runs/load" };
});
const shown = (subject: Parameters<typeof loadDoc>[0]): string => onTerminal(loadDoc(subject));

it("calls a load not valid only if it is, and else names what was left open", () => {
  const rules: LoadRecord["rules"] = [{ id: "access.required", checks: 9, breaches: 0 }];
  const headline = (more: Partial<LoadRecord>): string =>
    loadDoc({
      record: loadRecordOf({
        outcome: "incomplete",
        exitCode: 3,
        rules,
        ...(view.record.achieved && { achieved: view.record.achieved }),
        ...more,
      }),
      directory: "runs/load",
    }).headline;
  const open = ["refresh p95", "refresh p99"].map((name): LoadRecord["objectives"][number] => {
    return { name, bound: "at most", limit: 8, unit: "ms", verdict: "not measured" };
  });
  expect(headline({ objectives: open.slice(1) })).toBe(
    "Nothing broke, but 1 objective could not be judged: refresh p99.",
  );
  expect(headline({ objectives: open })).toBe(
    "Nothing broke, but 2 objectives could not be judged: refresh p95, refresh p99.",
  );
  const missed = open.slice(1).map((one) => ({ ...one, measured: 20, verdict: "breached" }) as const);
  expect(headline({ objectives: missed })).toBe(
    "Nothing broke, but 1 objective could not be judged: refresh p99.",
  );
  expect(headline({ objectives: open, validity: { valid: false, reasons: [] } })).toBe(
    "The load run is not valid: its figures say nothing.",
  );
  const reasons = [{ reason: "the load generator ran out of local ports", remedy: "widen the range" }];
  expect(headline({ objectives: open, validity: { valid: false, reasons } })).toBe(
    "The load run is not valid: the load generator ran out of local ports. Widen the range.",
  );
  expect(headline({ rules: [{ id: "access.required", checks: 0, breaches: 0 }] })).toBe(
    "The load was not judged: no promise was checked under load.",
  );
  const undecided = { id: "push.acknowledged-stops", checks: 0, breaches: 0, open: 200 };
  expect(headline({ rules: [...rules, undecided] })).toBe(
    "Nothing broke, but 1 rule could not be judged: push.acknowledged-stops.",
  );
  expect(headline({ stopped: "k6 gave up before the load" })).toBe(
    "The load was not judged: k6 gave up before the load.",
  );
  expect(headline({ exitCode: 4 })).toBe("The target could not be reached.");
});

it("shows the first breach of each broken rule, and folds later ones", () => {
  const [one] = view.breaches.shown;
  if (one === undefined) throw new Error("the run has breaches");
  const late = { ...one, rule: "refresh.token-set", atMs: one.atMs + 1 };
  const record = { ...view.record, breaches: [one, late] };
  const { sections } = loadDoc({ ...view, record });
  const blocks = sections.find(({ id }) => id === "broken")?.blocks ?? [];
  expect(blocks.map(({ is }) => is)).toEqual(["card", "fold", "card"]);
  const fold = blocks.find((block) => block.is === "fold");
  expect([fold?.summary, fold?.blocks.length]).toEqual(["2 later breaches of this rule", 2]);
});

it("says why requests failed, when, and that the service asked to slow down if that made most of it", () => {
  const { endpoints } = view.record;
  const row = (causes: Readonly<Record<string, number>>): LoadRecord["endpoints"][number] => {
    const count = Object.values(causes).reduce((sum, one) => sum + one, 0);
    const times = { minMs: 1, meanMs: 1, p50Ms: 1, p90Ms: 1, p95Ms: 1, p99Ms: 1, p999Ms: 1, maxMs: 1 };
    const latencies = { count, ...times };
    return { endpoint: "trap", outcome: "failed", service: latencies, response: latencies, causes };
  };
  const objectives = [
    { name: "list errors", limit: 0, unit: "share", bound: "at most", verdict: "breached" } as const,
  ];
  const failedFor = (causes: Readonly<Record<string, number>>, course = view.course) => {
    const failed = { outcome: "failed", exitCode: 1, objectives } as const;
    const record = loadRecordOf({ ...failed, endpoints: [...endpoints, row(causes)] });
    return { ...view, record, course };
  };
  const headline = (causes: Readonly<Record<string, number>>) => loadDoc(failedFor(causes)).headline;
  const slow = "1 objective was missed. The service asked to slow down.";
  expect(headline({ "429": 2, "503 with Retry-After": 3, timeout: 5 })).toBe(slow);
  expect(headline({ "429": 4, timeout: 5 })).toBe("1 objective was missed.");
  expect(headline({ "503": 9 })).toBe("1 objective was missed.");

  const buckets = view.course?.buckets.map((bucket, at) => ({
    ...bucket,
    causes: at === 1 || at === 2 ? { trap: { "429": at } } : {},
  }));
  const course = view.course && { ...view.course, ...(buckets && { buckets }) };
  expect(shown(failedFor({ timeout: 1, "429": 3 }, course))).toMatch(
    /Failed requests\n.*Endpoint +Cause +Requests +Share +Over time\n +trap +429 +3 +75 % +▁▅█▁+ second 1 to 3\n +trap +timeout +1 +25 % *\n/,
  );
});
