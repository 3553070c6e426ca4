import type { Metric, Speed } from "../compare/shape.ts";
import { ALPHA, isWorse } from "../compare/speed.ts";
import { amountOf, change, percent, plural } from "../text/figures.ts";
import { figure, mark, section, softText, table, type Look, type Section } from "./model.ts";
import type { Lane } from "./pictures.ts";

/** How fast two loads were, and how fast the head should have been by the earlier runs. */
export const speedSection = ({ metrics, earlier, unjudged }: Speed): Section => {
  const title =
    earlier === 0 ? "Speed, head against base" : `Speed, against ${plural(earlier, "earlier run")}`;
  const isJudged = earlier > 0;
  const rows = table(
    title,
    ["Metric", ">Base", ">Head", ">Change", ...(isJudged ? [">Limits for one more run", "Verdict"] : [])],
    metrics.map((one) => [
      one.id,
      said(one, one.base),
      said(one, one.head),
      one.base === 0 ? "" : change(one.head / one.base),
      ...(isJudged ? [limitsText(one), one.verdict === undefined ? "" : mark(lookOf(one), one.verdict)] : []),
    ]),
  );
  return section(
    "speed",
    title,
    rows &&
      figure({
        title: "How latencies changed",
        ...(unjudged !== undefined && { note: `Speed is shown, not judged: ${unjudged}.` }),
        drawn:
          "Each latency of the head against that of the base, on a logarithmic axis: to the right it is slower.",
        legend: [
          ["change", "how much a latency changed"],
          isJudged && ["limits", "where one more run of an unchanged service would fall"],
        ],
        picture: { is: "lanes", axis: "change", label: title, lanes: metrics.flatMap(laneOf) },
        open: true,
        table: rows,
      }),
    isJudged &&
      softText(
        `An unchanged service exceeds any of these limits in at most ${percent(ALPHA)} of all comparisons.`,
      ),
  );
};

const said = ({ unit }: Metric, value: number): string => amountOf({ value, unit });

const limitsText = (one: Metric): string =>
  one.limits === undefined ? "" : `${said(one, one.limits.low)} to ${said(one, one.limits.high)}`;

const lookOf = (one: Metric): Look =>
  isWorse(one) ? ["bad", "cross"] : one.verdict === "usual" ? ["good", "check"] : ["seen", "ring"];

const laneOf = (one: Metric): readonly Lane[] => {
  const { id, unit, base, head, limits, verdict } = one;
  if (unit !== "ms" || base === 0) return [];
  const limited = limits === undefined ? "" : `, limits ${limitsText(one)}, ${verdict}`;
  return [
    {
      name: id,
      said: `${said(one, base)} to ${said(one, head)}${verdict === undefined ? "" : `, ${verdict}`}`,
      label: `${id}: ${change(head / base)}${limited}`,
      ...(limits !== undefined && {
        band: { look: "limit" as const, range: [limits.low / base, limits.high / base] as const },
      }),
      dot: head / base,
      verdict: isWorse(one) ? "regressed" : undefined,
    },
  ];
};
