import type { VNode } from "preact";
import type { Member } from "../../duet/model.ts";
import { percent as share } from "../../text/latency.ts";
import { changeScale } from "../change-scale.ts";
import { axisText, percent } from "../chart.ts";
import { el } from "../element.ts";
import { figure, table } from "../parts.ts";
import {
  amountOf,
  changeText,
  intervalText,
  isGated,
  probability,
  seenText,
  verdictMark,
  type GatedMember,
} from "./looks.ts";

const ROW_PX = 34;
const BAR_PX = 8;

type Scale = ReturnType<typeof changeScale>;

/** Every judged metric on one axis, for the table that stands beneath it: how much b differs from a, from where on it matters, and what could have been seen. */
export const forest = (members: readonly Member[]): VNode | undefined => {
  const gated = members.filter(isGated);
  if (gated.length === 0) return undefined;
  const scale = changeScale(
    gated.flatMap(({ ratio, interval, floor }) => [ratio, ...(interval ?? []), 1 + floor]),
    1,
    99,
  );
  return figure({
    title: "How b differs from a",
    note: "The change of each judged metric, on a logarithmic axis: to the right b is slower (or has more throughput). Between the ends of the shaded stretch a change is too small to matter.",
    legend: [
      ["change-mean", "change, and its 95 % interval"],
      ["floor", "too small to matter"],
      ["detectable", "the smallest change that this duet finds"],
    ],
    picture: el(
      "div",
      { class: "lanes forest", role: "group", "aria-label": "How b differs from a" },
      gated.map((member) => lane(member, scale)),
      el(
        "div",
        { class: "lane foot" },
        el("div", {}),
        el("svg", { class: "strip", height: 24, "aria-hidden": "true" }, axisText(scale.ticks, 0)),
      ),
    ),
  });
};

const lane = (member: GatedMember, scale: Scale): VNode => {
  const { endpoint, metric, verdict, a, b, ratio, pairs, floor, smallestDetectable } = member;
  return el(
    "div",
    { class: "lane" },
    el(
      "div",
      { class: "lane-name" },
      el("b", {}, `${endpoint} ${metric} `),
      el("span", { class: "soft" }, `${amountOf(member, a)} to ${amountOf(member, b)}, `, verdict),
    ),
    el(
      "svg",
      {
        class: "strip",
        height: ROW_PX,
        role: "img",
        "aria-label": `${endpoint} ${metric}: ${verdict}, ${pairs === 0 ? "no pair" : changeText(ratio)}, 95 % interval ${intervalText(member)}, matters from ${share(floor)}, could see ${seenText(member)}`,
      },
      stretch(scale, [1 / (1 + floor), 1 + floor], { className: "floor-band", top: 0, height: ROW_PX }),
      upright(scale, 1, "no-change"),
      ...(smallestDetectable === undefined
        ? []
        : [1 / (1 + smallestDetectable), 1 + smallestDetectable].map((at) =>
            upright(scale, at, "detectable-line"),
          )),
      member.interval !== undefined &&
        stretch(scale, member.interval, {
          className: `interval ${verdict}`,
          top: (ROW_PX - BAR_PX) / 2,
          height: BAR_PX,
        }),
      pairs > 0 &&
        el("circle", { class: `change-dot ${verdict}`, cx: percent(scale.at(ratio)), cy: ROW_PX / 2, r: 6 }),
    ),
  );
};

interface Box {
  readonly className: string;
  readonly top: number;
  readonly height: number;
}

const stretch = (scale: Scale, [low, high]: readonly [number, number], box: Box): VNode =>
  el("rect", {
    class: box.className,
    x: percent(scale.at(low)),
    width: percent(Math.max(0.3, scale.at(high) - scale.at(low))),
    y: box.top,
    height: box.height,
    rx: 2,
  });

const upright = (scale: Scale, ratio: number, className: string): VNode =>
  el("line", {
    class: className,
    x1: percent(scale.at(ratio)),
    x2: percent(scale.at(ratio)),
    y1: 0,
    y2: ROW_PX,
  });

/** The judged metrics with all of their figures. */
export const judgedTable = (members: readonly Member[]): VNode =>
  table(
    "Judged metrics",
    [
      "Metric",
      "Pairs",
      "a",
      "b",
      "Change",
      "95 % interval",
      "p (Holm)",
      "Matters from",
      "Could see",
      "Verdict",
    ],
    members
      .filter(isGated)
      .map((member) => [
        `${member.endpoint} ${member.metric}`,
        String(member.pairs),
        amountOf(member, member.a),
        amountOf(member, member.b),
        member.pairs === 0 ? "unknown" : changeText(member.ratio),
        intervalText(member),
        probability(member.adjustedP),
        share(member.floor),
        seenText(member),
        verdictMark(member.verdict),
      ]),
    [1, 2, 3, 4, 5, 6, 7, 8],
  );
