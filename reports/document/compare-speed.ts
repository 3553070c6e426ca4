import { isWorse } from "../compare/limits.ts";
import type { ComparedLatency, Densities, LimitedMetric, Limits, Speed } from "../compare/shape.ts";
import { amountOf, change, latency, percent, plural, sparkline } from "../text/figures.ts";
import {
  figure,
  mark,
  section,
  softText,
  table,
  tableSection,
  type Block,
  type Figure,
  type Section,
} from "./model.ts";

/** How fast two loads were: against the limits of earlier runs, side by side, and as distributions. */
export const speedSections = ({
  latencies,
  distributions,
  totals,
  limits,
  unjudged,
}: Speed): readonly Section[] => [
  section("limits", `Against ${plural(limits?.runs ?? 0, "earlier run")}`, ...limitsBlocks(limits)),
  section(
    "latency",
    "Latency, base against head",
    latencies.length > 0 && latencyFigure(latencies, unjudged),
  ),
  section("distributions", "Latency distribution", ...distributions.map(distribution)),
  tableSection(
    "load",
    "Throughput and failures",
    ["What", ">Base", ">Head"],
    totals.map(({ id, unit, base, head }) => [
      id,
      amountOf({ value: base, unit }),
      amountOf({ value: head, unit }),
    ]),
  ),
];

const latencyFigure = (all: readonly ComparedLatency[], unjudged: string | undefined): Figure => {
  const title = "How latencies changed";
  return figure({
    title,
    note: `Each percentile of the head against that of the base, with the 95 % interval of these two runs; the next two may differ by more.${unjudged === undefined ? "" : ` Speed is shown, not judged: ${unjudged}.`}`,
    drawn: "The axis is logarithmic.",
    legend: [["change-mean", "change with its 95 % interval"]],
    picture: {
      is: "lanes",
      axis: "change",
      label: title,
      lanes: all.map((one) => ({
        name: one.id,
        said: `${latency(one.baseMs)} to ${latency(one.headMs)}`,
        label: `${one.id}: ${change(one.ratio)}, ${intervalText(one)}`,
        interval: [one.interval.low, one.interval.high],
        dot: one.ratio,
      })),
    },
    table: table(
      title,
      ["Latency", ">Base", ">Head", ">Change", ">95 % interval within these runs"],
      all.map((one) => [
        one.id,
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
  const title = `Latencies of ${endpoint}`;
  return figure({
    title,
    note: "Share of all requests by latency. The slowest requests, one in a thousand, are at the right end.",
    drawn: "The axis is logarithmic.",
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
    table: table(
      title,
      [">From", ">To", ">Base", ">Head"],
      base.map((part, at) => [
        latency(edgesMs[at] ?? 0),
        at === base.length - 1 ? "and more" : latency(edgesMs[at + 1] ?? 0),
        percent(part),
        percent(head[at] ?? 0),
      ]),
    ),
  });
};

const said = ({ unit }: LimitedMetric, value: number): string => amountOf({ value, unit });
const limitsText = (one: LimitedMetric): string => `${said(one, one.low)} to ${said(one, one.high)}`;

const limitsBlocks = (limits: Limits | undefined): readonly (Block | false | undefined)[] => {
  if (limits === undefined) return [];
  const timed = limits.metrics.filter(({ unit }) => unit === "ms");
  return [
    timed.length > 0 &&
      figure({
        title: "The head run against the limits of earlier runs",
        note: "Where another run of an unchanged service would fall.",
        drawn: "The axis is logarithmic.",
        legend: [
          ["limits", "limits and usual value"],
          ["pair-dot", "the head run"],
        ],
        picture: {
          is: "lanes",
          axis: "latency",
          label: "Limits",
          lanes: timed.map((one) => ({
            name: one.id,
            said: `${latency(one.head)}, ${one.verdict}`,
            label: `${one.id}: ${said(one, one.head)}, limits ${limitsText(one)}, ${one.verdict}`,
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
      ["Metric", ">Usual", ">Limits for one more run", ">Head", "Verdict"],
      limits.metrics.map((one) => [
        one.id,
        said(one, one.usual),
        limitsText(one),
        said(one, one.head),
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
