import { duration } from "../../conformance/contract/duration.ts";
import { mostSpoilt, pairedValues, sortedPairs } from "../duet/judge.ts";
import {
  whyDuetIncomplete,
  type DuetDocument,
  type Failures,
  type Member,
  type MemberVerdict,
} from "../duet/document.ts";
import { moment, plural, change, percent, rate, latency } from "../text/figures.ts";
import {
  code,
  doc,
  facts,
  figure,
  given,
  mark,
  note,
  section,
  softText,
  table,
  tableSection,
  type Block,
  type Doc,
  type Figure,
  type Look,
} from "./model.ts";
import type { Lane } from "./pictures.ts";

export const duetDoc = (duet: DuetDocument, run: string): Doc => {
  const [look, headline] = answerOf(duet);
  const gated = duet.members.filter(isGated);
  const shown = duet.members.filter((member) => !isGated(member));
  return doc({
    title: `Duet: ${headline}`,
    look,
    headline,
    detail: detailOf(duet, gated),
    about: [
      ["a", code(duet.a)],
      ["b", code(duet.b)],
    ],
    after: duet.broken.map(({ side, rule, times }) =>
      note(`${side} broke `, code(rule), ` ${plural(times, "time")} under this load.`),
    ),
    sections: [
      section("judged", "Judged", gated.length > 0 && forest(gated)),
      section(
        "failures",
        "Failed requests",
        ...(duet.failures === undefined ? [] : [failuresTable(duet.failures)]),
      ),
      section("pairs", "Pair by pair", pairTable(duet, gated)),
      section("shown", "Shown, not judged", shownTable(shown)),
      tableSection(
        "spoilt",
        "Replaced: spoilt pairs",
        [">Pair", "Why"],
        duet.spoilt.map(({ pair, reasons }) => [String(pair + 1), reasons.join("; ")]),
        "Spoilt pairs",
      ),
      section("method", "How it was judged", ...method(duet, run)),
    ],
    source: `${run}/duet.json`,
  });
};

const answerOf = (duet: DuetDocument): readonly [Look, string] => {
  const { state, verdict, broken } = duet;
  if (state !== "ended")
    return [["open", "dots"], "The duet was interrupted; these are the results until then."];
  const isShort = whyDuetIncomplete(duet) !== undefined && verdict !== "regressed";
  const said = isShort ? "Too few clean pairs to tell whether b is slower." : sentenceOf(duet);
  if (broken.some(({ side }) => side === "b"))
    return [["bad", "cross"], `b breaks promises under load. ${said}`];
  return [isShort ? ["open", "question"] : looks[verdict], said];
};

const detailOf = (duet: DuetDocument, gated: readonly GatedMember[]): string => {
  const { pairs, planned, spoilt, ended } = duet;
  const regressed = gated.filter(({ verdict }) => verdict === "regressed");
  return given([
    `${pairs} of ${plural(planned, "planned pair")} judged, ${plural(spoilt.length, "spoilt pair")} discarded; ${plural(gated.length, "metric")} judged.`,
    regressed.length > 0 &&
      `Slower: ${regressed.map((one) => `${one.endpoint} ${one.metric} ${change(one.ratio)}`).join(", ")}.`,
    duet.failures?.verdict === "regressed" &&
      `Failed requests: ${percent(duet.failures.a)} of a, ${percent(duet.failures.b)} of b.`,
    ended === "too many pairs were spoilt" &&
      `It ended because more than ${mostSpoilt(planned)} pairs were spoilt. Lower --rate, or measure on a machine that does nothing else.`,
  ]).join(" ");
};

const forest = (gated: readonly GatedMember[]): Figure => {
  const judged = table(
    "Judged metrics",
    [...columns, ">p (Holm)", ">Matters from", ">Could see", "Verdict"],
    gated.map((member) => [
      ...cellsOf(member),
      probability(member.adjustedP),
      percent(member.floor),
      seenText(member),
      mark(looks[member.verdict], member.verdict),
    ]),
  );
  return figure({
    title: "How b differs from a",
    note: "The change of each judged metric.",
    drawn:
      "The axis is logarithmic: to the right b is slower, or has more throughput. Within the shaded band changes are too small to matter.",
    legend: [
      ["change-mean", "change with its 95 % interval"],
      ["floor", "too small to matter"],
      ["detectable", "smallest change this duet detects"],
    ],
    picture: { is: "lanes", axis: "change", label: "How b differs from a", lanes: gated.map(laneOf) },
    open: true,
    table: judged,
  });
};

const laneOf = (member: GatedMember): Lane => {
  const { endpoint, metric, verdict, a, b, ratio, pairs, floor, interval, smallestDetectable: seen } = member;
  return {
    name: `${endpoint} ${metric}`,
    said: `${amountOf(member, a)} to ${amountOf(member, b)}, ${verdict}`,
    label: `${endpoint} ${metric}: ${verdict}, ${pairs === 0 ? "no pair" : change(ratio)}, 95 % interval ${intervalText(member)}, matters from ${percent(floor)}, detects ${seenText(member)}`,
    band: { look: "floor", range: [1 / (1 + floor), 1 + floor] },
    interval,
    lines: seen === undefined ? [] : [1 / (1 + seen), 1 + seen].map((at) => ["detectable", at] as const),
    dot: pairs === 0 ? undefined : ratio,
    verdict,
  };
};

/** The change of each judged metric in each pair, in their order: the only place where a drift or a jump shows. */
const pairTable = ({ blocks, rules }: DuetDocument, gated: readonly GatedMember[]) => {
  const used = sortedPairs(blocks).clean.slice(0, rules.pairs);
  return table(
    "Pair by pair",
    ["Metric", ">Pairs", ">Least change", ">Greatest change", "In order"],
    gated.map(({ endpoint, metric }) => {
      const { pairs } = pairedValues(blocks, used, endpoint, metric);
      const ratios = pairs.map(({ a, b }) => b / a);
      return (
        ratios.length > 0 && [
          `${endpoint} ${metric}`,
          String(ratios.length),
          change(Math.min(...ratios)),
          change(Math.max(...ratios)),
          { is: "trend", values: ratios },
        ]
      );
    }),
  );
};

const shownTable = (members: readonly Member[]) =>
  table("Metrics without a verdict", columns, members.map(cellsOf));

const method = (duet: DuetDocument, run: string): readonly Block[] => {
  const { rules, scenario, blockMs, warmUpMs, seed, tool, startedAt } = duet;
  return [
    softText(
      `Each pair of blocks gives one ratio; the t interval of the mean of their logarithms is judged. The share of failed requests is judged by its difference in each pair, since latencies are of granted requests alone. The p values of all judged metrics are adjusted together (Holm): at most ${percent(rules.alpha)} of duets of a build with itself report a change. A change counts only if its interval also reaches the size that matters. "Could see" is the smallest slowdown that this duet detects with probability ${percent(rules.power)}, given its noise.`,
    ),
    facts([
      ["Scenario", scenario],
      ["Asked for", `${rate(duet.rate)} requests a second`],
      ["Block", `${duration(blockMs)}, the first ${duration(warmUpMs)} not counted`],
      ["Seed", code(String(seed))],
      ["Started", moment(startedAt)],
      ["Touchstone", tool],
      ["Record", code(run)],
    ]),
  ];
};

const looks: Readonly<Record<MemberVerdict, Look>> = {
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
const sentenceOf = ({ verdict, members, failures }: DuetDocument): string => {
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

const failuresTable = ({ a, b, interval, adjustedP, floor, smallestDetectable, verdict }: Failures) =>
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

type GatedMember = Member & { readonly verdict: MemberVerdict; readonly floor: number };

const isGated = (member: Member): member is GatedMember =>
  member.verdict !== undefined && member.floor !== undefined;

const amountOf = ({ metric }: Member, value: number): string =>
  metric === "throughput" ? `${rate(value)}/s` : latency(value);

/** Above tenfold, the figure only says that there were too few pairs. */
const MOST_SHARE = 9;

const intervalText = ({ interval }: Member): string =>
  interval === undefined ? "unknown" : `${change(interval[0])} to ${change(interval[1])}`;

/** No load generator resolves less than 0.1 %, whatever the arithmetic says. */
const seenText = ({ smallestDetectable: seen }: Member): string => {
  if (seen === undefined) return "nothing";
  if (seen > MOST_SHARE) return `over ${percent(MOST_SHARE)}`;
  return seen < 0.001 ? "under 0.1 %" : percent(seen);
};

const probability = (p = 1): string => (p < 0.001 ? "< 0.001" : p.toFixed(3));

const cellsOf = (member: Member): readonly string[] => [
  `${member.endpoint} ${member.metric}`,
  amountOf(member, member.a),
  amountOf(member, member.b),
  member.pairs === 0 ? "unknown" : change(member.ratio),
  intervalText(member),
];
const columns = ["Metric", ">a", ">b", ">Change", ">95 % interval"];
