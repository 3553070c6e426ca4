import { loadCases } from "../../conformance/contract/load-cases.ts";
import type { LoadRecord } from "../../conformance/contract/load-record.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { temporaryFolder } from "../../conformance/testing/temporary-folder.ts";
import { gather, type LoadView } from "../gather/gather.ts";
import { readRun, type LoadRun } from "../read/index.ts";
import { compareDoc } from "../document/compare.ts";
import { duetDoc } from "../document/duet.ts";
import { gateDoc } from "../document/gate.ts";
import { historyDoc } from "../document/history.ts";
import { loadDoc } from "../document/load.ts";
import type { Doc } from "../document/model.ts";
import { failedRule, missedAndHeld, missingRule } from "./ci-runs.ts";
import { madeDuet } from "./duet-document.ts";
import { hostile, ruleThat, withResults } from "./fixture.ts";
import { gates } from "./gates.ts";
import { compared, gateOf, madeHistory } from "./made-runs.ts";
import { writeLoadRun, type LoadRunSpec } from "./records.ts";

using folder = temporaryFolder();

/** A load run as readers of its directory see it, under a name that is the same each time. */
const played = async (name: string, spec: Partial<LoadRunSpec>) => {
  const directory = `${folder.path}/${name}`;
  writeLoadRun(directory, { seed: 1, seconds: 20, requests: 2_000, ...spec });
  const run = (await readRun(directory)) as LoadRun;
  const view = (await gather(run)) as Required<LoadView>;
  return { run: { ...run, directory: `runs/${name}` }, view: { ...view, directory: `runs/${name}` } };
};

const notes = ["a note"];
const passing = await played("load", { pushes: 400 });
const breaking = await played("broken", {
  breaches: 30,
  failedShare: 0.01,
  record: { objectives: missedAndHeld, notes },
});
const others = await Promise.all(
  Array.from({ length: 10 }, (_, at) =>
    played(`load-${at}`, { seed: at, seconds: 4, requests: 1_200, slowness: 20 * (1 + 0.02 * (at % 3)) }),
  ),
);
const slower = await played("slower", { seed: 31, seconds: 4, requests: 1_200, slowness: 34 });

/** The passed load with other results, and without its table of latencies. */
const changed = (more: Partial<LoadRecord>): Doc => {
  const { pushes: _, ...passed } = passing.view.record;
  const record = { ...passed, endpoints: [], ...more };
  return loadDoc(
    { record: { ...record, cases: loadCases(record) }, directory: "runs/load" },
    { detail: "brief" },
  );
};

const missed = { name: "list p95", limit: 500, unit: "ms", bound: "at most" } as const;

const loads: Readonly<Record<string, Doc>> = {
  "that passed": loadDoc(passing.view),
  "that broke a promise and missed an objective": loadDoc(breaking.view, { detail: "brief" }),
  "that left an objective open": changed({
    objectives: [...missedAndHeld.slice(1), { ...missed, verdict: "not measured", reason: "no samples" }],
    rules: [
      { id: "access.required", checks: 900, breaches: 0 },
      { id: "refresh.reusable", checks: 0, breaches: 0, note: "no refresh in this scenario" },
    ],
    outcome: "incomplete",
    exitCode: 3,
  }),
  "that is not valid": changed({
    validity: { valid: false, reasons: [{ reason: "9 iterations were dropped", remedy: "lower --rate" }] },
    outcome: "incomplete",
    exitCode: 3,
  }),
  "that was given up": changed({
    stopped: "more than 50 % of the requests failed for 5 consecutive seconds",
    outcome: "failed",
    exitCode: 1,
  }),
  "that ramps": changed({
    shape: "breakpoint",
    breakpoint: {
      heldTo: 62,
      endedAt: 81,
      gaveWay: { ...missed, measured: 812, verdict: "breached" },
    },
  }),
};

const gate = (record: RunRecord, detail: "brief" | "full" = "brief"): Doc =>
  gateDoc({ record, directory: "runs/one" }, { detail });

/** Two gates, compared; both would have passed unless their records say something else. */
const gatesCompared = async (base: Partial<RunRecord>, head: Partial<RunRecord>, force = false) => {
  const run = (name: string, record: Partial<RunRecord>) => ({
    ...gateOf({ rules: withResults(), ...record }),
    directory: `runs/${name}`,
  });
  return compareDoc(await compared(run("base", base), run("head", head), force));
};

/** Two gates in which a rule of each kind of change is found. */
const gatesApart = (seen: string) =>
  gatesCompared(
    { rules: withResults(failedRule, ruleThat.failed("code.unknown", "a", "b"), missingRule) },
    {
      rules: withResults(
        ruleThat.failed("code.lifetime", "it is refused", seen),
        ruleThat.failed("code.unknown", "a", "b"),
        ruleThat.couldNotRun("access.lifetime", "it would take 2 hours"),
        ruleThat.observed("authorize.redirect", '{"status":302}'),
      ),
    },
  );

const missing = { rules: withResults(missingRule), outcome: "incomplete", exitCode: 3 } as const;

const comparisons: Readonly<Record<string, Doc>> = {
  "of gates": await gatesApart("it is granted"),
  "of gates without a change": await gatesCompared({}, {}),
  "of gates that did not judge the same": await gatesCompared({}, missing),
  "that was forced": await gatesCompared({ effort: "quick" }, {}, true),
  "of two loads": compareDoc(await compared(passing.run, breaking.run, true)),
  "of a load with ten earlier ones": compareDoc(
    await compared(
      others.map(({ run }) => run),
      slower.run,
    ),
  ),
};

const duets: Readonly<Record<string, Doc>> = {
  "that found b slower": duetDoc(
    madeDuet({ pairs: 12, effect: { p50: 0.2, p95: 0.2 }, spoilt: [3] }),
    "runs/duet",
  ),
  "that found no difference": duetDoc(madeDuet(), "runs/duet"),
  "that cannot tell": duetDoc({ ...madeDuet({ pairs: 2 }), state: "open" }, "runs/duet"),
};

const named = (kind: string, documents: Readonly<Record<string, Doc>>) =>
  Object.entries(documents).map(([name, document]) => [`${kind} ${name}`, document] as const);

/** What is made of runs, one document for each kind that readers meet. */
export const documents: Readonly<Record<string, Doc>> = Object.fromEntries([
  ...Object.entries(gates).map(([name, record]) => [`gate ${name}`, gate(record)] as const),
  ["gate red, in full", gate(gates.red, "full")],
  ["gate with measurements, in full", gate(gates["with measurements and a changed pin"], "full")],
  ...named("load", loads),
  ...named("comparison", comparisons),
  ...named("duet", duets),
  ["history", historyDoc(madeHistory())],
]);

/** The same with texts of a malicious service, wherever one may stand. */
export const hostileDocuments: Readonly<Record<string, Doc>> = {
  duet: duetDoc(
    madeDuet({
      names: { a: hostile, b: hostile },
      broken: [{ side: "a", rule: hostile, times: 1 }],
      blocks: (blocks) => blocks.map((block) => ({ ...block, endpoint: hostile })),
    }),
    "runs/duet",
  ),
  comparison: await gatesApart(hostile),
  history: historyDoc(madeHistory({ folder: hostile, problems: [{ name: hostile, problem: hostile }] })),
};
