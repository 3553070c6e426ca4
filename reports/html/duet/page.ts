import type { VNode } from "preact";
import { duration } from "../../../conformance/contract/duration.ts";
import { mostSpoilt } from "../../duet/course.ts";
import type { DuetDocument } from "../../duet/document.ts";
import type { DuetPlan } from "../../duet/plan.ts";
import { plural } from "../../text/figures.ts";
import { percent } from "../../text/latency.ts";
import { rate } from "../../text/units.ts";
import { el, type Child } from "../element.ts";
import type { Icon } from "../icons.ts";
import { toneMark, type Tone } from "../mark.ts";
import { facts, table } from "../parts.ts";
import type { Part } from "../part.ts";
import { renderPage, sectionsOf } from "../shell.ts";
import { forest, judgedTable } from "./forest.ts";
import { amountOf, changeText, intervalText, isGated, looksOfVerdict } from "./looks.ts";
import { pairFigures } from "./pairs.ts";

/** A duet as one page: the verdict, every judged metric on one axis and pair by pair, what was only shown, what was spoilt. */
export const renderDuetHtml = (document: DuetDocument, { run }: { readonly run: string }): string => {
  const parts = partsOf(document, run);
  const { tone, icon, headline } = answerOf(document);
  return renderPage({
    title: `Duet: ${headline}`,
    tone,
    contents: [{ title: "Duet", id: "answer", parts }],
    main: [
      el(
        "section",
        { class: "overview", "aria-labelledby": "answer" },
        el(
          "div",
          { class: "answer" },
          toneMark(tone, icon, document.verdict),
          el(
            "div",
            {},
            el("h1", { id: "answer" }, headline),
            el("p", { class: "detail" }, detailOf(document)),
          ),
        ),
        facts([
          ["a", el("code", {}, document.a)],
          ["b", el("code", {}, document.b)],
        ]),
        brokenNotes(document),
      ),
      sectionsOf(parts),
      el("footer", { class: "soft" }, `Written by Touchstone from ${run}/duet.json.`),
    ],
  });
};

interface DuetAnswer {
  readonly tone: Tone;
  readonly icon: Icon;
  readonly headline: string;
}

const sentences: Readonly<Record<DuetDocument["verdict"], string>> = {
  regressed: "b is slower than a.",
  improved: "b is faster than a.",
  unchanged: "b is as fast as a, as far as it matters.",
  inconclusive: "This duet cannot tell whether b is slower.",
};

const answerOf = (document: DuetDocument): DuetAnswer => {
  const { state, verdict, plan, broken } = document;
  if (state !== "ended")
    return {
      tone: "open",
      icon: "dots",
      headline: "The duet was cut off; this is what was played until then.",
    };
  if (broken.some(({ side }) => side === "b"))
    return {
      tone: "bad",
      icon: "cross",
      headline: `b breaks promises under load. ${sentences[verdict]}`,
    };
  if (plan !== undefined)
    return {
      tone: "seen",
      icon: "ring",
      headline: `${plural(plan.pairs, "pair")} find a change of ${percent(plan.effect)}.`,
    };
  const [tone, icon] = looksOfVerdict[verdict];
  return { tone, icon, headline: sentences[verdict] };
};

const detailOf = (document: DuetDocument): string => {
  const { members, pairs, planned, spoilt, ended } = document;
  const gated = members.filter(isGated);
  const regressed = gated.filter(({ verdict }) => verdict === "regressed");
  const which =
    regressed.length === 0
      ? ""
      : ` ${regressed.map((one) => `${one.endpoint} ${one.metric} ${changeText(one.ratio)}`).join(", ")}.`;
  const why =
    ended === "too many pairs were spoilt"
      ? ` It ended because more than ${mostSpoilt(planned)} pairs were spoilt.`
      : ended === "a regression is certain"
        ? " It ended early because a regression was certain."
        : "";
  return `${pairs} of ${plural(planned, "planned pair")} judged, ${plural(spoilt.length, "spoilt pair")} left out; ${plural(gated.length, "metric")} judged.${which}${why}`;
};

const brokenNotes = ({ broken }: DuetDocument): Child =>
  broken.map(({ side, rule, times }) =>
    el(
      "p",
      { class: "note" },
      `${side} broke `,
      el("code", {}, rule),
      ` ${plural(times, "time")} under this load.`,
    ),
  );

const partsOf = (document: DuetDocument, run: string): readonly Part[] => {
  const { members, spoilt, plan } = document;
  const picture = forest(members);
  const pairs = pairFigures(document);
  const shown = members.filter((member) => !isGated(member));
  return [
    ...(plan === undefined ? [] : [{ id: "plan", title: "How many pairs it takes", content: planned(plan) }]),
    ...(picture === undefined
      ? []
      : [{ id: "judged", title: "What was judged", content: [picture, judgedTable(members)] }]),
    ...(pairs.length === 0 ? [] : [{ id: "pairs", title: "Pair by pair", content: pairs }]),
    ...(shown.length === 0
      ? []
      : [{ id: "shown", title: "Shown, not judged", content: [shownTable(shown)] }]),
    ...(spoilt.length === 0
      ? []
      : [{ id: "spoilt", title: "Spoilt pairs", content: [spoiltTable(document)] }]),
    { id: "method", title: "How it was judged", content: method(document, run) },
  ];
};

const planned = (plan: DuetPlan): readonly Child[] => [
  el(
    "p",
    {},
    `From ${plural(plan.pilotPairs, "pilot pair")}, planned with the upper 80 % limit of their noise.`,
  ),
  table(
    "Pairs that each metric takes",
    ["Metric", "Noise of a pair", "Planned with", "Pairs"],
    plan.members.map((one) => [
      `${one.endpoint} ${one.metric}`,
      percent(one.deviation),
      percent(one.deviationLimit),
      String(one.pairs),
    ]),
    [1, 2, 3],
  ),
];

const shownTable = (members: DuetDocument["members"]): VNode =>
  table(
    "Metrics without a verdict",
    ["Metric", "a", "b", "Change", "95 % interval"],
    members.map((member) => [
      `${member.endpoint} ${member.metric}`,
      amountOf(member, member.a),
      amountOf(member, member.b),
      member.pairs === 0 ? "unknown" : changeText(member.ratio),
      intervalText(member),
    ]),
    [1, 2, 3, 4],
  );

const spoiltTable = ({ spoilt }: DuetDocument): VNode =>
  table(
    "Spoilt pairs",
    ["Pair", "Why"],
    spoilt.map(({ pair, reasons }) => [String(pair + 1), reasons.join("; ")]),
  );

const method = (document: DuetDocument, run: string): readonly Child[] => {
  const { rules, scenario, blockMs, warmUpMs, seed, tool, startedAt } = document;
  return [
    el(
      "p",
      {},
      `The block is the sample: each pair gives one ratio, and the t interval of the mean of their logarithms is judged. The p values of all judged metrics are adjusted together after Holm, so that at most ${percent(rules.alpha)} of all duets of a build with itself claim anything. A change counts only where its interval also reaches from where on it matters. "Could see" is the smallest slowing that this duet finds with a probability of ${percent(rules.power)}, from the noise that it had.`,
    ),
    facts([
      ["Scenario", scenario],
      ["Asked for", `${rate(document.rate)} requests a second`],
      ["Block", `${duration(blockMs)}, the first ${duration(warmUpMs)} not counted`],
      ["Looks before the end", rules.looks.length === 0 ? "none" : rules.looks.join(", ")],
      ["Seed", el("code", {}, String(seed))],
      ["Started", startedAt.slice(0, 19).replace("T", " ")],
      ["Touchstone", tool],
      ["Record", el("code", { class: "wrap" }, run)],
    ]),
  ];
};
