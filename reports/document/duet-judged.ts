import type { DuetDocument, Failures, Member, MemberVerdict } from "../duet/document.ts";
import { change, latency, percent, rate } from "../text/figures.ts";
import { mark, table, type Look } from "./model.ts";

export const looks: Readonly<Record<MemberVerdict, Look>> = {
  regressed: ["bad", "cross"],
  improved: ["good", "check"],
  unchanged: ["good", "check"],
  inconclusive: ["open", "question"],
};

const sentences: Readonly<Record<MemberVerdict, string>> = {
  regressed: "b is slower than a.",
  improved: "b is faster than a.",
  unchanged: "b is as fast as a: any difference is too small to matter.",
  inconclusive: "This duet cannot tell whether b is slower.",
};

/** The worst verdict decides what is said, of speed if failures have the same. */
export const sentenceOf = ({ verdict, members, failures }: DuetDocument): string => {
  const isOfSpeed = members.some((member) => member.verdict === verdict);
  if (failures?.verdict !== verdict) return sentences[verdict];
  if (isOfSpeed && verdict === "regressed") return "b is slower than a, and fails more often.";
  return isOfSpeed ? sentences[verdict] : failureSentences[verdict];
};

const failureSentences: Readonly<Record<MemberVerdict, string>> = {
  regressed: "b fails more often than a.",
  improved: "b fails less often than a.",
  unchanged: sentences.unchanged,
  inconclusive: "This duet cannot tell whether b fails more often.",
};

export const failuresTable = ({ a, b, interval, adjustedP, floor, smallestDetectable, verdict }: Failures) =>
  table(
    "Shares of failed requests, of all endpoints together",
    [">a", ">b", ">95 % interval of b − a", ">p (Holm)", ">Matters from", ">Could see", "Verdict"],
    [
      [
        percent(a),
        percent(b),
        interval === undefined ? "unknown" : interval.map(percent).join(" to "),
        probability(adjustedP),
        percent(floor),
        smallestDetectable === undefined ? "nothing" : percent(smallestDetectable),
        mark(looks[verdict], verdict),
      ],
    ],
  );

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
