import type { Case, Measured } from "./cases.ts";
import {
  isUndecided,
  serviceRows,
  type LoadRecord,
  type LoadRule,
  type ObjectiveResult,
} from "./load-record.ts";
import { counted } from "./text.ts";
import { inUnit, rate } from "./units.ts";

type Judged = Omit<LoadRecord, "cases">;

/** What a load judged and measured, item by item. */
export const loadCases = (record: Judged): readonly Case[] => [
  validityCase(record),
  ...endCases(record),
  ...record.rules.map((rule) => ruleCase(rule, record)),
  ...record.objectives.map((objective) => objectiveCase(objective, record)),
  ...speedCases(record),
];

const validityCase = (record: Judged): Case => {
  const { validity, outcome, notes, startedAt, endedAt, achieved } = record;
  const durationMs = endedAt === undefined ? 0 : Math.max(0, Date.parse(endedAt) - Date.parse(startedAt));
  const common = { id: "the load is valid", group: "load", durationMs };
  if (outcome === "interrupted")
    return {
      ...common,
      status: "skipped",
      verdict: "interrupted",
      open: true,
      seen: "objectives and rules cover only the time until then",
    };
  if (validity?.valid === true && outcome !== "harness-error")
    return (achieved?.requests ?? 0) > 0
      ? { ...common, status: "passed", verdict: "valid" }
      : { ...common, status: "skipped", verdict: "not valid", open: true, seen: "it sent no requests" };
  const reasons = (validity?.reasons ?? []).map(({ reason, remedy }) => `${reason}: ${remedy}`);
  return {
    ...common,
    status: outcome === "harness-error" ? "error" : "skipped",
    verdict: "not valid",
    open: true,
    seen: reasons[0] ?? notes[0] ?? "the run ended before this could be judged",
    ...(reasons.length > 1 && { more: reasons.slice(1) }),
  };
};

/** What a ramp found: the rate, and what gave way there. */
export const rampAnswer = ({ breakpoint, outcome }: Pick<LoadRecord, "breakpoint" | "outcome">) => {
  if (breakpoint === undefined) return undefined;
  const { heldTo, gaveWay } = breakpoint;
  if (heldTo === 0)
    return `${gaveWay?.name ?? "An objective"} was missed from the lowest rate of the ramp on.`;
  const upTo = `${rate(heldTo)} requests per second`;
  if (gaveWay === undefined || outcome === "incomplete")
    return `Every objective held up to at least ${upTo}.`;
  return `Every objective held up to ${upTo}, where ${gaveWay.name} gave way.`;
};

/** What failed a load, or left it open, without any objective or rule. */
const endCases = (record: Judged): readonly Case[] => {
  const { outcome, stopped, rules } = record;
  if (outcome === "interrupted") return [];
  const hasFailed = outcome === "failed" && !rules.some(({ breaches }) => breaches > 0);
  const common = { group: "load", status: hasFailed ? "failed" : "skipped" } as const;
  if (stopped !== undefined)
    return [{ ...common, id: "the load ran to its end", verdict: "ended early", seen: stopped, open: true }];
  const seen = rampAnswer(record);
  if (seen === undefined) return record.validity?.valid === true && isUnchecked(record) ? [noneChecked] : [];
  const isFound = outcome === "passed";
  return [
    {
      ...common,
      id: "the ramp found a rate",
      status: isFound ? "passed" : common.status,
      verdict: isFound ? "found" : "not found",
      seen,
    },
  ];
};

/** Whether a load is incomplete and no objective or rule says why. */
const isUnchecked = ({ outcome, objectives, rules }: Judged): boolean =>
  outcome === "incomplete" &&
  objectives.every(({ verdict }) => verdict === "held") &&
  !rules.some(isUndecided);

const noneChecked: Case = {
  id: "a promise was checked",
  group: "load",
  status: "skipped",
  verdict: "not judged",
  seen: "no promise was checked under load",
  open: true,
};

const verdicts = {
  held: { status: "passed", verdict: "passed" },
  breached: { status: "failed", verdict: "failed" },
  "not measured": { status: "skipped", verdict: "not measured", open: true },
} as const;

const objectiveCase = (objective: ObjectiveResult, { outcome }: Judged): Case => {
  const { name, bound, limit, unit, measured, interval, reason, verdict } = objective;
  // What an incomplete load missed may be its own machine's doing.
  const isOpen = verdict === "breached" && outcome === "incomplete";
  const between = interval && ` (95 % interval ${interval.map((value) => inUnit(value, unit)).join(" to ")})`;
  const seen = measured === undefined ? undefined : `${inUnit(measured, unit)}${between ?? ""}`;
  return {
    id: `objective ${name}`,
    group: "objectives",
    ...(isOpen ? { status: "skipped", verdict: "inconclusive", open: true } : verdicts[verdict]),
    expected: `${bound} ${inUnit(limit, unit)}`,
    seen: [seen, reason].filter((one) => one !== undefined).join("; "),
    ...(measured !== undefined && {
      measured: { value: measured, unit, limit, bound, ...(interval && { interval }) },
    }),
  };
};

const ruleCase = (rule: LoadRule, { breaches: kept }: Judged): Case => {
  const { id, checks, breaches, note } = rule;
  const common = {
    id,
    group: "promises",
    ...(checks > 0 && { measured: { value: checks, unit: "checks" as const } }),
  };
  const noted = note !== undefined && { seen: note };
  if (breaches > 0) {
    const first = kept.find((one) => one.rule === id);
    const often = `broken ${counted(breaches, "time")} in ${counted(checks, "check")}`;
    return {
      ...common,
      status: "failed",
      verdict: "failed",
      ...(first !== undefined && { expected: first.expected }),
      seen: first === undefined ? often : `${often}: ${first.actual}`,
    };
  }
  if (checks > 0) return { ...common, status: "passed", verdict: "passed", ...noted };
  if (isUndecided(rule))
    return { ...common, status: "skipped", verdict: "inconclusive", open: true, ...noted };
  return {
    ...common,
    status: "skipped",
    verdict: "not checked",
    seen: note ?? "not checked in this scenario",
  };
};

/** Latencies as a user waits for them, of what was granted, and what all requests came to. */
const speedCases = ({ endpoints, achieved }: Judged): readonly Case[] => {
  const figure = (id: string, value: number, unit: Measured["unit"]): Case => ({
    id,
    group: "speed",
    status: "measured",
    verdict: "measured",
    measured: { value, unit },
  });
  const share = failedShare(endpoints);
  return [
    ...endpoints
      .filter(({ outcome }) => outcome === "granted")
      .flatMap(({ endpoint, response: { p50Ms, p95Ms, p99Ms } }) => [
        figure(`${endpoint} p50`, p50Ms, "ms"),
        figure(`${endpoint} p95`, p95Ms, "ms"),
        figure(`${endpoint} p99`, p99Ms, "ms"),
      ]),
    ...(achieved === undefined
      ? []
      : [figure("all requests per second", achieved.requestsPerSecond, "per second")]),
    ...(share === undefined ? [] : [figure("all failed share", share, "share")]),
  ];
};

/** Of the requests to the service. */
const failedShare = (endpoints: LoadRecord["endpoints"]): number | undefined => {
  const count = (rows: LoadRecord["endpoints"]): number =>
    rows.reduce((sum, { service }) => sum + service.count, 0);
  const rows = serviceRows(endpoints);
  const all = count(rows);
  return all === 0 ? undefined : count(rows.filter(({ outcome }) => outcome === "failed")) / all;
};
