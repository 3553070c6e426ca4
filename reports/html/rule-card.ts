import type { VNode } from "preact";
import type { RuleResult } from "../../conformance/contract/record.ts";
import type { Requirement } from "../../conformance/contract/requirement.ts";
import { casesOf, type Verdict } from "../../conformance/contract/verdict.ts";
import { knownRequirement, levelMeanings, sectionsOf } from "../terminal/titles.ts";
import { cameBack, othersOf, type Broken } from "../text/breach.ts";
import { bracketsOf, bracketText, factsOf, factText, otherFactsOf } from "../text/facts.ts";
import { elapsed, plural, shellWord } from "../text/figures.ts";
import { compact } from "../text/compact.ts";
import { activeWaivers, waiverText } from "../text/waivers.ts";
import { wordOf } from "../text/verdicts.ts";
import { el, type Child } from "./element.ts";
import { evidence, history } from "./exchanges.ts";
import type { GateView } from "./gather/view.ts";
import { mark } from "./mark.ts";
import { command, facts, link } from "./parts.ts";

/** Where things are in the page, and how a user calls Touchstone. */
export interface Place {
  /** Stands before every id of a run, so that several runs share a page. */
  readonly prefix: string;
  readonly program: string;
}

export const ruleAnchor = ({ prefix }: Place, id: string): string => `${prefix}rule-${id}`;
export const breachAnchor = ({ prefix }: Place, id: string): string => `${prefix}broken-${id}`;

export const pushAnchor = ({ prefix }: Place): string => `${prefix}pushes`;

/** One rule of the catalogue: a line that unfolds to how it was judged, what was measured, and its exchanges. */
export const ruleCard = (result: RuleResult, view: GateView, place: Place): VNode => {
  const known = knownRequirement(result.id);
  const { verdict } = result;
  const cases = casesOf(verdict);
  return el(
    "details",
    {
      class: "rule",
      id: ruleAnchor(place, result.id),
      "data-kind": verdict.kind,
      "data-level": result.level,
    },
    el(
      "summary",
      {},
      mark(verdict.kind),
      el("span", { class: "id" }, result.id),
      el("span", { class: "sentence" }, known?.sentence ?? "A rule that this version does not know."),
      el("span", { class: "cases soft" }, cases === 0 ? wordOf(verdict.kind) : plural(cases, "case")),
    ),
    el(
      "div",
      { class: "rule-body" },
      "breach" in verdict &&
        el(
          "p",
          {},
          link(
            breachAnchor(place, result.id),
            "What was expected, what was seen, and the exchanges that show it",
          ),
        ),
      facts(aboutRule(result, known), "about"),
      ...exchangesOf(result, view, place),
    ),
  );
};

const aboutRule = (
  result: RuleResult,
  known: Requirement | undefined,
): readonly (readonly [string, Child] | undefined)[] => {
  const { verdict } = result;
  const allowed = factsOf(result)["readings"];
  return [
    ["Level", `${result.level}: ${levelMeanings[result.level] ?? ""}`],
    known === undefined ? undefined : ["From", `${sectionsOf(known)} of the document`],
    known?.level === "derived" ? ["Why it follows", known.derivation] : undefined,
    known?.level === "advisory" ? ["Clause", known.clause] : undefined,
    known === undefined ? undefined : ["How it is judged", known.judged],
    ...whyOpen(verdict),
    ...(Array.isArray(allowed) ? [["Readings that fit", readings(allowed, known)] as const] : []),
    ...bracketsOf(result).map(([name, bracket]) => [name, bracketText(bracket)] as const),
    ...(otherFactsOf(result).length === 0
      ? []
      : [
          [
            "Measured",
            otherFactsOf(result)
              .map(([name, value]) => factText(name, value))
              .join(" · "),
          ] as const,
        ]),
    verdict.kind === "observed" ? ["Fingerprint", el("code", {}, verdict.fingerprint)] : undefined,
    ["Took", elapsed(result.durationMs)],
  ];
};

const readings = (allowed: readonly unknown[], known: Requirement | undefined): Child => {
  if (allowed.length === 0) return "none";
  const sentences = known?.readings ?? {};
  return el(
    "ul",
    { class: "plain" },
    allowed.map((one) => {
      const name = compact(one);
      return el("li", {}, el("b", {}, name), Object.hasOwn(sentences, name) ? `: ${sentences[name]}` : "");
    }),
  );
};

const whyOpen = (verdict: Verdict): readonly (readonly [string, string])[] => {
  switch (verdict.kind) {
    case "could-not-run":
      return [
        ["What is missing", verdict.missing],
        ["Why", verdict.reason],
      ];
    case "inconclusive":
      return [
        ["Why", verdict.reason],
        ["What would settle it", verdict.settle],
      ];
    case "pending":
      return [
        ["Due", verdict.due],
        ["Why", verdict.reason],
      ];
    case "not-applicable":
      return [[verdict.by === "profile" ? "Says the profile" : "Why", verdict.reason]];
    case "harness-error":
      return [["What went wrong in Touchstone", verdict.stack ?? verdict.message]];
    default:
      return [];
  }
};

const exchangesOf = (result: RuleResult, view: GateView, place: Place): readonly Child[] => {
  if ("breach" in result.verdict) return [];
  const seen = view.evidence.get(result.id);
  const isOfPushes = result.group === "push" && view.pushes !== undefined;
  return [
    ...(isOfPushes ? [el("p", {}, link(pushAnchor(place), "The pushes that the receiver saw"))] : []),
    ...(seen === undefined || seen.count === 0
      ? []
      : [el("h4", {}, "Exchanges"), ...evidence(seen, "exchanges.jsonl")]),
    result.verdict.kind === "not-applicable" ? undefined : replay(result.id, view, place),
  ];
};

/** The command that judges a rule again. */
const replay = (id: string, view: GateView, { program }: Place): VNode =>
  el(
    "div",
    { class: "again" },
    el("h4", {}, "Judge it again"),
    command(`${program} replay ${shellWord(view.run)} ${id}`),
  );

/** A broken promise in full: sentence, expected, actual, how to see it again, and the exchanges that show it. */
export const breachCard = (result: RuleResult, verdict: Broken, view: GateView, place: Place): VNode => {
  const known = knownRequirement(result.id);
  const { breach } = verdict;
  const others = othersOf(verdict);
  const waiver = activeWaivers(view.record).get(result.id);
  return el(
    "article",
    { class: `breach ${verdict.kind}`, id: breachAnchor(place, result.id) },
    el(
      "header",
      {},
      mark(verdict.kind),
      el("h4", {}, link(ruleAnchor(place, result.id), result.id)),
      known !== undefined && el("span", { class: "soft" }, `${result.level}, ${sectionsOf(known)}`),
    ),
    el("p", { class: "promise" }, known?.sentence ?? ""),
    facts(
      [
        known?.level === "advisory" ? ["Clause", known.clause] : undefined,
        breach.part === undefined ? undefined : ["Part", breach.part],
        ["Expected", breach.expected],
        ["Seen", el("strong", {}, breach.actual)],
        breach.reproduction.counterexample === undefined
          ? undefined
          : ["Input", el("code", {}, breach.reproduction.counterexample)],
        others === undefined ? undefined : ["Also", others],
        ["Again", cameBack(breach.reproduction.replayed)],
        waiver === undefined ? undefined : ["Waived", waiverText(waiver)],
      ],
      "about",
    ),
    ...(result.exchanges.length === 0
      ? []
      : [
          el(
            "h5",
            {},
            `The ${plural(result.exchanges.length, "exchange")} that show${result.exchanges.length === 1 ? "s" : ""} it`,
          ),
          ...history(result.exchanges),
        ]),
    replay(result.id, view, place),
  );
};
