import type { Member, MemberVerdict } from "../duet/model.ts";
import { change, latency, percent, rate } from "../text/figures.ts";

export type GatedMember = Member & { readonly verdict: MemberVerdict; readonly floor: number };

export const isGated = (member: Member): member is GatedMember =>
  member.verdict !== undefined && member.floor !== undefined;

export const amountOf = ({ metric }: Member, value: number): string =>
  metric === "throughput" ? `${rate(value)}/s` : latency(value);

/** Above tenfold, the figure only says that there were too few pairs. */
const MOST_SHARE = 9;

export const intervalText = ({ interval }: Member): string =>
  interval === undefined ? "unknown" : `${change(interval[0])} to ${change(interval[1])}`;

/** No load generator resolves less than 0.1 %, whatever the arithmetic says. */
export const seenText = ({ smallestDetectable: seen }: Member): string => {
  if (seen === undefined) return "nothing";
  if (seen > MOST_SHARE) return `over ${percent(MOST_SHARE)}`;
  return seen < 0.001 ? "under 0.1 %" : percent(seen);
};

export const probability = (p = 1): string => (p < 0.001 ? "< 0.001" : p.toFixed(3));

export const cellsOf = (member: Member): readonly string[] => [
  `${member.endpoint} ${member.metric}`,
  amountOf(member, member.a),
  amountOf(member, member.b),
  member.pairs === 0 ? "unknown" : change(member.ratio),
  intervalText(member),
];
export const columns = ["Metric", ">a", ">b", ">Change", ">95 % interval"];
