import type { VNode } from "preact";
import type { LimitedMetric, LimitsComparison } from "../../compare/limits.ts";
import type { ComparedFigure, ComparedLatency, LoadComparison } from "../../compare/load.ts";
import { plural } from "../../text/figures.ts";
import { change, latency, percent as share } from "../../text/latency.ts";
import { rate } from "../../text/units.ts";
import { changeScale } from "../change-scale.ts";
import { axisText, percent, round } from "../chart.ts";
import { el, type Child } from "../element.ts";
import { toneMark } from "../mark.ts";
import { figure, table } from "../parts.ts";
import type { Part } from "../part.ts";
import { latencyScale } from "../scales.ts";
import { knownRequirement } from "../../terminal/titles.ts";
import { distributions } from "./distributions.ts";

const ROW_PX = 30;
const BAR_PX = 8;

/** Two load runs: what was broken, latencies and their distributions, limits of earlier runs, what was achieved. */
export const loadComparisonParts = (
  load: LoadComparison,
  limits: LimitsComparison | undefined,
  unjudged: string | undefined,
): readonly Part[] => [
  ...(load.warnings.length === 0
    ? []
    : [
        {
          id: "mind",
          title: "Mind",
          content: load.warnings.map((text) => el("p", { class: "note" }, text)),
        },
      ]),
  ...(load.rules.length === 0
    ? []
    : [{ id: "broken", title: "Broken under load", content: [ruleTable(load)] }]),
  ...(limits === undefined
    ? []
    : [
        {
          id: "limits",
          title: `Against ${plural(limits.runs, "earlier run")}`,
          content: limitsContent(limits),
        },
      ]),
  ...(load.latencies.length === 0
    ? []
    : [{ id: "latency", title: "Latency, base against head", content: [latencies(load, unjudged)] }]),
  ...(load.distributions.length === 0
    ? []
    : [
        {
          id: "distributions",
          title: "How latencies are spread",
          content: distributions(load.distributions),
        },
      ]),
  { id: "load", title: "What was achieved", content: achieved(load) },
];

const ruleTable = ({ rules }: LoadComparison): VNode =>
  table(
    "Broken under load",
    ["Rule", "Change", "Breaches before", "Breaches now", "What it says"],
    rules.map(({ id, change: became, baseBreaches, headBreaches }) => [
      el(
        "span",
        { class: "with-mark" },
        became === "fixed" ? toneMark("good", "check", became) : toneMark("bad", "cross", became),
        el("code", {}, id),
      ),
      became,
      String(baseBreaches),
      String(headBreaches),
      knownRequirement(id)?.sentence ?? "",
    ]),
    [2, 3],
  );

const latencies = ({ latencies }: LoadComparison, unjudged: string | undefined): VNode => {
  const scale = changeScale(
    latencies.flatMap(({ ratio, interval }) => [ratio, interval.low, interval.high]),
    1,
    99,
  );
  return figure({
    title: "How latencies changed",
    note: [
      "Each percentile of the head against that of the base, on a logarithmic axis, with its 95 % interval within these two runs: the next two may differ by more. ",
      unjudged !== undefined && `Speed is shown here, not judged: ${unjudged}.`,
    ],
    legend: [["change-mean", "change, and its 95 % interval"]],
    picture: el(
      "div",
      { class: "lanes forest", role: "group", "aria-label": "How latencies changed" },
      latencies.map((one) => lane(one, scale)),
      foot(axisText(scale.ticks, 0)),
    ),
    table: table(
      "How latencies changed",
      ["Endpoint", "Percentile", "Base", "Head", "Change", "95 % interval within these runs"],
      latencies.map((one) => [
        one.endpoint,
        one.quantile,
        latency(one.baseMs),
        latency(one.headMs),
        change(one.ratio),
        intervalText(one),
      ]),
      [2, 3, 4, 5],
    ),
  });
};

const intervalText = ({ interval, by }: ComparedLatency): string =>
  `${change(interval.low)} to ${change(interval.high)}${by === "requests" ? " (too short a run)" : ""}`;

const foot = (axis: readonly VNode[]): VNode =>
  el(
    "div",
    { class: "lane foot" },
    el("div", {}),
    el("svg", { class: "strip", height: 24, "aria-hidden": "true" }, axis),
  );

const lane = (one: ComparedLatency, scale: ReturnType<typeof changeScale>): VNode => {
  const [low, high] = [scale.at(one.interval.low), scale.at(one.interval.high)];
  const middle = percent(scale.at(1));
  return el(
    "div",
    { class: "lane" },
    el(
      "div",
      { class: "lane-name" },
      el("b", {}, `${one.endpoint} ${one.quantile} `),
      el("span", { class: "soft" }, `${latency(one.baseMs)} to ${latency(one.headMs)}`),
    ),
    el(
      "svg",
      {
        class: "strip",
        height: ROW_PX,
        role: "img",
        "aria-label": `${one.endpoint} ${one.quantile}: ${change(one.ratio)}, ${intervalText(one)}`,
      },
      el("line", { class: "no-change", x1: middle, x2: middle, y1: 0, y2: ROW_PX }),
      el("rect", {
        class: "interval",
        x: percent(low),
        width: percent(Math.max(0.3, high - low)),
        y: (ROW_PX - BAR_PX) / 2,
        height: BAR_PX,
        rx: 2,
      }),
      el("circle", { class: "change-dot", cx: percent(scale.at(one.ratio)), cy: ROW_PX / 2, r: 5.5 }),
    ),
  );
};

const isUsual = ({ verdict }: LimitedMetric): boolean => verdict === "usual";
const isWorse = ({ verdict }: LimitedMetric): boolean => verdict === "slower" || verdict === "more failures";

const amount = ({ metric }: LimitedMetric, value: number): string =>
  metric === "failed share" ? share(value) : latency(value);

const limitsContent = (limits: LimitsComparison): readonly Child[] => {
  const timed = limits.metrics.filter(({ metric }) => metric !== "failed share");
  return [
    ...(timed.length === 0 ? [] : [limitsPicture(timed)]),
    table(
      "Limits that earlier runs set for one more run",
      ["Metric", "Usual", "Limits", "Head", "Verdict"],
      limits.metrics.map((one) => [
        `${one.endpoint} ${one.metric}`,
        amount(one, one.usual),
        `${amount(one, one.low)} to ${amount(one, one.high)}`,
        amount(one, one.head),
        el(
          "span",
          { class: "with-mark" },
          isWorse(one)
            ? toneMark("bad", "cross", "")
            : isUsual(one)
              ? toneMark("good", "check", "")
              : toneMark("seen", "ring", ""),
          one.verdict,
        ),
      ]),
      [1, 2, 3],
    ),
    el(
      "p",
      { class: "soft" },
      `An unchanged service is outside any of these limits in at most ${share(limits.alpha)} of all comparisons.`,
    ),
  ];
};

const limitsPicture = (metrics: readonly LimitedMetric[]): VNode => {
  const all = metrics.flatMap(({ low, high, head }) => [low, high, head]);
  const scale = latencyScale(Math.min(...all) * 0.9, Math.max(...all) * 1.1, 1, 99);
  return figure({
    title: "The head run and the limits of the earlier ones",
    note: "Where one more run of an unchanged service would lie; the axis is logarithmic.",
    legend: [
      ["limits", "limits, and what is usual"],
      ["pair-dot", "the head run"],
    ],
    picture: el(
      "div",
      { class: "lanes forest", role: "group", "aria-label": "Limits" },
      metrics.map((one) => {
        const [low, high] = [scale.at(one.low), scale.at(one.high)];
        const usual = percent(scale.at(one.usual));
        return el(
          "div",
          { class: "lane" },
          el(
            "div",
            { class: "lane-name" },
            el("b", {}, `${one.endpoint} ${one.metric} `),
            el("span", { class: "soft" }, `${latency(one.head)}, ${one.verdict}`),
          ),
          el(
            "svg",
            {
              class: "strip",
              height: ROW_PX,
              role: "img",
              "aria-label": `${one.endpoint} ${one.metric}: ${amount(one, one.head)}, limits ${amount(one, one.low)} to ${amount(one, one.high)}, ${one.verdict}`,
            },
            el("rect", {
              class: "limit-band",
              x: percent(low),
              width: percent(Math.max(0.3, high - low)),
              y: 8,
              height: ROW_PX - 16,
              rx: 2,
            }),
            el("line", { class: "usual-line", x1: usual, x2: usual, y1: 8, y2: ROW_PX - 8 }),
            el("circle", {
              class: isWorse(one) ? "change-dot regressed" : "pair",
              cx: percent(round(scale.at(one.head))),
              cy: ROW_PX / 2,
              r: 5.5,
            }),
          ),
        );
      }),
      foot(axisText(scale.ticks, 0)),
    ),
  });
};

const figureText = ({ unit }: ComparedFigure, value: number): string => {
  if (unit === "share") return share(value);
  return unit === "count" ? String(value) : `${rate(value)} a second`;
};

const achieved = ({ figures, alone }: LoadComparison): readonly Child[] => [
  table(
    "What was achieved",
    ["What", "Base", "Head"],
    figures.map((one) => [one.name, figureText(one, one.base), figureText(one, one.head)]),
    [1, 2],
  ),
  ...alone.map(({ endpoint, only }) => el("p", {}, el("code", {}, endpoint), ` is in the ${only} run only.`)),
];
