import { isWorse } from "../compare/limits.ts";
import type {
  ComparedFigure,
  ComparedLatency,
  Densities,
  LimitedMetric,
  LimitsComparison,
  LoadComparison,
  LoadRuleChange,
} from "../compare/shape.ts";
import { changeWord } from "../compare/rules.ts";
import { plural, change, inUnit, latency, percent, sparkline, rate } from "../text/figures.ts";
import { requirementOf } from "../text/verdicts.ts";
import {
  code,
  figure,
  mark,
  note,
  section,
  softText,
  table,
  tableSection,
  text,
  type Block,
  type Figure,
  type Look,
  type Section,
} from "./model.ts";

export const loadComparisonSections = (
  load: LoadComparison,
  limits: LimitsComparison | undefined,
  unjudged: string | undefined,
): readonly Section[] => [
  section("warnings", "Warnings", ...load.warnings.map((one) => note(one))),
  tableSection(
    "broken",
    "Broken under load",
    ["Rule", "Change", ">Breaches before", ">Breaches now", "What it says"],
    load.rules.map(({ id, change: became, baseBreaches, headBreaches }) => [
      mark(lookOf[became], code(id), became),
      changeWord(became),
      String(baseBreaches),
      String(headBreaches),
      requirementOf(id).sentence,
    ]),
  ),
  tableSection(
    "objectives",
    "Objectives missed",
    ["Objective", "Change", ">Limit", ">Base", ">Head"],
    load.objectives.map(({ objective: { name, bound, limit, unit }, change: became, base, head }) => [
      mark(became === "met again" ? ["good", "check"] : ["bad", "cross"], [name], became),
      became,
      `${bound} ${inUnit(limit, unit)}`,
      inUnit(base, unit),
      inUnit(head, unit),
    ]),
  ),
  section(
    "limits",
    `Against ${plural(limits?.runs ?? 0, "earlier run")}`,
    ...(limits === undefined ? [] : limitsBlocks(limits)),
  ),
  section("latency", "Latency, base against head", load.latencies.length > 0 && latencies(load, unjudged)),
  section("distributions", "Latency distribution", ...load.distributions.map(distribution)),
  section("load", "Throughput", ...achieved(load)),
];

const lookOf: Readonly<Record<LoadRuleChange["change"], Look>> = {
  "newly failing": ["bad", "cross"],
  "failing unjudged": ["bad", "cross"],
  "newly unable": ["open", "question"],
  "still failing": ["bad", "cross"],
  fixed: ["good", "check"],
};

const latencies = ({ latencies: all }: LoadComparison, unjudged: string | undefined): Figure => {
  const title = "How latencies changed";
  return figure({
    title,
    note: `Each percentile of the head against that of the base, on a logarithmic axis, with the 95 % interval of these two runs; the next two may differ by more.${unjudged === undefined ? "" : ` Speed is shown, not judged: ${unjudged}.`}`,
    legend: [["change-mean", "change with its 95 % interval"]],
    picture: {
      is: "lanes",
      axis: "change",
      label: title,
      lanes: all.map((one) => ({
        name: `${one.endpoint} ${one.quantile}`,
        said: `${latency(one.baseMs)} to ${latency(one.headMs)}`,
        label: `${one.endpoint} ${one.quantile}: ${change(one.ratio)}, ${intervalText(one)}`,
        interval: [one.interval.low, one.interval.high],
        dot: one.ratio,
      })),
    },
    table: table(
      title,
      ["Endpoint", "Percentile", ">Base", ">Head", ">Change", ">95 % interval within these runs"],
      all.map((one) => [
        one.endpoint,
        one.quantile,
        latency(one.baseMs),
        latency(one.headMs),
        change(one.ratio),
        intervalText(one),
      ]),
    ),
  });
};

/** A bound that rests on too few requests is not shown as a figure. */
const intervalText = ({ interval: { low, high }, by }: ComparedLatency): string =>
  low > 0 && Number.isFinite(high)
    ? `${change(low)} to ${change(high)}${by === "requests" ? " (run too short)" : ""}`
    : "too few requests to tell";

const distribution = (one: Densities): Figure => {
  const { endpoint, edgesMs, base, head } = one;
  const peak = Math.max(...base, ...head);
  const rows = table(
    `Latencies of ${endpoint}`,
    [">From", ">To", ">Base", ">Head"],
    base.map((part, at) => [
      latency(edgesMs[at] ?? 0),
      at === base.length - 1 ? "and more" : latency(edgesMs[at + 1] ?? 0),
      percent(part),
      percent(head[at] ?? 0),
    ]),
  );
  return figure({
    title: `Latencies of ${endpoint}`,
    note: "Share of all requests by latency; the axis is logarithmic. The slowest requests, one in a thousand, are drawn at the right end.",
    legend: [
      ["base", "base"],
      ["head", "head"],
    ],
    picture: { is: "densities", densities: one },
    brief: [
      `${latency(edgesMs[0] ?? 0)} … ${latency(edgesMs.at(-1) ?? 0)} and more`,
      `base ${sparkline(base, base.length, peak)}`,
      `head ${sparkline(head, head.length, peak)}`,
    ],
    table: rows,
  });
};

const amount = ({ metric }: LimitedMetric, value: number): string =>
  metric === "failed share" ? percent(value) : latency(value);

const limitsText = (one: LimitedMetric): string => `${amount(one, one.low)} to ${amount(one, one.high)}`;

const limitsBlocks = (limits: LimitsComparison): readonly (Block | false | undefined)[] => {
  const timed = limits.metrics.filter(({ metric }) => metric !== "failed share");
  return [
    timed.length > 0 &&
      figure({
        title: "The head run against the limits of earlier runs",
        note: "Where another run of an unchanged service would fall; the axis is logarithmic.",
        legend: [
          ["limits", "limits and usual value"],
          ["pair-dot", "the head run"],
        ],
        picture: {
          is: "lanes",
          axis: "latency",
          label: "Limits",
          lanes: timed.map((one) => ({
            name: `${one.endpoint} ${one.metric}`,
            said: `${latency(one.head)}, ${one.verdict}`,
            label: `${one.endpoint} ${one.metric}: ${amount(one, one.head)}, limits ${limitsText(one)}, ${one.verdict}`,
            band: { look: "limit", range: [one.low, one.high] },
            lines: [["usual", one.usual]],
            dot: one.head,
            verdict: isWorse(one) ? "regressed" : undefined,
          })),
        },
        brief: [],
      }),
    table(
      "Limits set by earlier runs",
      ["Endpoint", "Metric", ">Usual", ">Limits for one more run", ">Head", "Verdict"],
      limits.metrics.map((one) => [
        one.endpoint,
        one.metric,
        amount(one, one.usual),
        limitsText(one),
        amount(one, one.head),
        mark(
          isWorse(one) ? ["bad", "cross"] : one.verdict === "usual" ? ["good", "check"] : ["seen", "ring"],
          one.verdict,
        ),
      ]),
    ),
    softText(
      `An unchanged service exceeds any of these limits in at most ${percent(limits.alpha)} of all comparisons.`,
    ),
  ];
};

const figureText = ({ unit }: ComparedFigure, value: number): string => {
  if (unit === "share") return percent(value);
  return unit === "count" ? String(value) : `${rate(value)} a second`;
};

const achieved = ({ figures, alone }: LoadComparison): readonly (Block | undefined)[] => [
  table(
    "Throughput",
    ["What", ">Base", ">Head"],
    figures.map((one) => [one.name, figureText(one, one.base), figureText(one, one.head)]),
  ),
  ...alone.map(({ endpoint, only }) => text(code(endpoint), ` is only in the ${only} run.`)),
];
