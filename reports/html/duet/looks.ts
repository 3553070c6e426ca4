import type { VNode } from "preact";
import type { Member, MemberVerdict } from "../../duet/model.ts";
import { change, latency, percent } from "../../text/latency.ts";
import { rate } from "../../text/units.ts";
import { el } from "../element.ts";
import type { Icon } from "../icons.ts";
import { toneMark, type Tone } from "../mark.ts";

export const looksOfVerdict: Readonly<Record<MemberVerdict, readonly [Tone, Icon]>> = {
  regressed: ["bad", "cross"],
  improved: ["good", "check"],
  unchanged: ["good", "check"],
  inconclusive: ["open", "question"],
};

export const verdictMark = (verdict: MemberVerdict): VNode =>
  el("span", { class: "with-mark word" }, toneMark(...looksOfVerdict[verdict], ""), verdict);

/** A metric with a verdict: the others are only shown. */
export type GatedMember = Member & { readonly verdict: MemberVerdict; readonly floor: number };

export const isGated = (member: Member): member is GatedMember =>
  member.verdict !== undefined && member.floor !== undefined;

export const amountOf = ({ metric }: Member, value: number): string =>
  metric === "throughput" ? `${rate(value)}/s` : latency(value);

/** Beyond tenfold, digits only tell that the pairs were too few. */
const MOST_SHARE = 9;

export const changeText = (ratio: number): string =>
  ratio - 1 > MOST_SHARE ? `over +${percent(MOST_SHARE)}` : change(ratio).replace("-", "−");

export const intervalText = ({ interval }: Member): string =>
  interval === undefined ? "unknown" : `${changeText(interval[0])} to ${changeText(interval[1])}`;

/** Finer than a tenth of a percent no load generator can see, whatever the arithmetic says. */
export const seenText = ({ smallestDetectable }: Member): string => {
  if (smallestDetectable === undefined) return "nothing";
  if (smallestDetectable > MOST_SHARE) return `over ${percent(MOST_SHARE)}`;
  return smallestDetectable < 0.001 ? "under 0.1 %" : percent(smallestDetectable);
};

export const probability = (p: number | undefined): string => {
  if (p === undefined) return "";
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
};
