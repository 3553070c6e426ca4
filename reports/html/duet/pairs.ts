import type { VNode } from "preact";
import type { Block } from "../../../conformance/contract/duet.ts";
import type { DuetDocument } from "../../duet/document.ts";
import type { DuetMetric } from "../../duet/model.ts";
import { sortedPairs } from "../../duet/ratios.ts";
import { change } from "../../text/latency.ts";
import { changeScale } from "../change-scale.ts";
import { percent, plot, round } from "../chart.ts";
import { el } from "../element.ts";
import { figure, table } from "../parts.ts";
import { amountOf, changeText, isGated, type GatedMember } from "./looks.ts";

const HEIGHT_PX = 150;
/** Dots and their edge stay inside of the picture. */
const [FIRST, LAST] = [2, 98];

/** Both sides of one pair. */
interface Pair {
  readonly pair: number;
  readonly a: number;
  readonly b: number;
}

/** The judged metrics pair by pair, in the order in which they were played: what drifts or jumps shows here alone. */
export const pairFigures = (document: DuetDocument): readonly VNode[] => {
  const used = sortedPairs(document.blocks).clean.slice(0, document.rules.pairs);
  return document.members.filter(isGated).flatMap((member) => {
    const pairs = pairsOf(document.blocks, used, member);
    return pairs.length === 0 ? [] : [pairFigure(member, pairs)];
  });
};

const valueOf = (block: Block, metric: DuetMetric): number =>
  metric === "throughput" ? block.throughput : block[`${metric}Ms`];

const pairsOf = (
  blocks: readonly Block[],
  used: readonly number[],
  { endpoint, metric }: GatedMember,
): readonly Pair[] => {
  const own = blocks.filter((block) => block.endpoint === endpoint);
  const valueIn = (pair: number, side: Block["side"]): number => {
    const block = own.find((one) => one.pair === pair && one.side === side);
    return block === undefined ? 0 : valueOf(block, metric);
  };
  return used
    .map((pair) => ({ pair, a: valueIn(pair, "a"), b: valueIn(pair, "b") }))
    .filter(({ a, b }) => a > 0 && b > 0);
};

const pairFigure = (member: GatedMember, pairs: readonly Pair[]): VNode => {
  const { endpoint, metric, interval, floor, smallestDetectable, ratio, verdict } = member;
  const title = `${endpoint} ${metric}, pair by pair`;
  const ratios = pairs.map(({ a, b }) => b / a);
  const seen = smallestDetectable === undefined ? [] : [1 / (1 + smallestDetectable), 1 + smallestDetectable];
  const y = changeScale([...ratios, ...(interval ?? []), 1 + floor, ratio], HEIGHT_PX - 4, 4);
  const at = (index: number): number =>
    pairs.length === 1 ? 50 : FIRST + ((LAST - FIRST) * index) / (pairs.length - 1);
  const across = (value: number, className: string): VNode =>
    el("line", { class: className, x1: 0, x2: "100%", y1: round(y.at(value)), y2: round(y.at(value)) });
  const band = ([low, high]: readonly [number, number], className: string): VNode =>
    el("rect", {
      class: className,
      x: 0,
      width: 100,
      y: round(y.at(high)),
      height: Math.max(1, round(y.at(low) - y.at(high))),
    });
  const ends = [0, pairs.length - 1].filter((index, place, all) => all.indexOf(index) === place);
  return figure({
    title,
    note: `${verdict}: ${changeText(ratio)} over ${pairs.length} pairs.`,
    legend: [
      ["pair-dot", "b against a in one pair"],
      ...(interval === undefined ? [] : ([[`interval ${verdict}`, "95 % interval of the change"]] as const)),
      ["floor", "too small to matter"],
      ...(seen.length === 0 ? [] : ([["detectable", "the smallest change that this duet finds"]] as const)),
    ],
    picture: plot({
      label: `${title}: ratios from ${change(Math.min(...ratios))} to ${change(Math.max(...ratios))}; ${verdict}.`,
      heightPx: HEIGHT_PX,
      x: ends.map((index) => ({ at: at(index), label: `pair ${(pairs[index]?.pair ?? 0) + 1}` })),
      y: y.ticks,
      shapes: [
        band([1 / (1 + floor), 1 + floor], "floor-band"),
        interval !== undefined && band(interval, `interval-band ${verdict}`),
      ],
      marks: [
        across(1, "no-change"),
        ...seen.map((value) => across(value, "detectable-line")),
        ...pairs.map(({ a, b }, index) =>
          el("circle", { class: "pair", cx: percent(at(index)), cy: round(y.at(b / a)), r: 4.5 }),
        ),
      ],
    }),
    table: table(
      title,
      ["Pair", "a", "b", "Change"],
      pairs.map(({ pair, a, b }) => [
        String(pair + 1),
        amountOf(member, a),
        amountOf(member, b),
        changeText(b / a),
      ]),
      [1, 2, 3],
    ),
  });
};
