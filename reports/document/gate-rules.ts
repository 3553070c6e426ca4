import type { RuleResult } from "../../conformance/contract/record.ts";
import { groups, type Requirement } from "../../conformance/contract/requirement.ts";
import { cameBack } from "../../conformance/contract/gate-cases.ts";
import { waiverText, type AppliedWaiver } from "../../conformance/contract/outcome.ts";
import { casesOf, type Facts, type Verdict } from "../../conformance/contract/verdict.ts";
import { endsOf, type GateView } from "../gather/gather.ts";
import { inputOf, laterBy, othersOf, sendTableOf } from "../text/breach.ts";
import { factText, intervalsOf, intervalText, otherFactsOf, readingsOf } from "../text/facts.ts";
import { elapsed, figure, plural, shellWord } from "../text/figures.ts";
import {
  groupTitles,
  requirementOf,
  levelMeanings,
  sectionsOf,
  verdictOrder,
  wordOf,
} from "../text/verdicts.ts";
import {
  lookOf,
  code,
  facts,
  given,
  lines,
  link,
  mark,
  soft,
  strong,
  table,
  text,
  type Block,
  type Card,
  type Fact,
  type RuleEntry,
  type RuleGroup,
  type Span,
  type Table,
  type Text,
} from "./model.ts";
import type { Place } from "./run.ts";

export const ruleAnchor = ({ prefix }: Place, id: string): string => `${prefix}rule-${id}`;
const breachAnchor = ({ prefix }: Place, id: string): string => `${prefix}broken-${id}`;

export const ruleLink = (place: Place, id: string): Span => link(ruleAnchor(place, id), id);
export const breachLink = (place: Place, id: string): Span => link(breachAnchor(place, id), id);

/** Longest history shown for a broken rule; the rest is counted. */
const FIRST = 30;
const LAST = 20;

interface BreachOptions extends Place {
  readonly isShort: boolean;
  readonly waiver?: AppliedWaiver | undefined;
  /** Where the exchanges were sent, for curl lines that repeat them. */
  readonly baseUrl?: string;
  /** The clock of the run's target: "real", if time passed by itself. */
  readonly clock?: string;
}

export const breachCard = (
  result: RuleResult,
  run: string,
  { isShort, waiver, baseUrl, clock, ...place }: BreachOptions,
): readonly Card[] => {
  const { id, level, verdict, exchanges } = result;
  if (!("breach" in verdict)) return [];
  const { breach } = verdict;
  const known = requirementOf(id);
  const others = othersOf(verdict, inputOf(id));
  const { counterexample, replayed } = breach.reproduction;
  return [
    {
      is: "card",
      tone: verdict.kind,
      id: breachAnchor(place, id),
      header: mark(lookOf[verdict.kind], link(ruleAnchor(place, id), strong(id)), wordOf(verdict.kind)),
      beside: `${level}, ${sectionsOf(known)}`,
      promise: known.sentence,
      blocks: given([
        facts([
          known.level === "advisory" && ["Clause", known.clause],
          breach.part !== undefined && ["Part", breach.part],
          ["Expected", breach.expected],
          ["Seen", strong(breach.actual)],
          counterexample !== undefined && namedInput(id, counterexample),
          others !== undefined && ["Also", lines(...others)],
          ["Replayed", cameBack(id, replayed)],
          !isShort && breach.leftOut !== undefined && ["Left out", leftOutText(breach.leftOut)],
          waiver !== undefined && ["Waived", waiverText(waiver)],
        ]),
        ...(isShort ? [] : sendBlocks(id, verdict.facts)),
        !isShort &&
          exchanges.length > 0 && {
            is: "exchanges",
            ...endsOf(exchanges, FIRST, LAST),
            where: "run.json",
            baseUrl,
            later: laterBy(exchanges, clock === "real"),
            about: `${breach.expected} ${breach.actual}`,
          },
        replayCommand(id, run, place),
      ]),
    },
  ];
};

/** A notification is named in prose. */
const namedInput = (id: string, input: string): Fact =>
  inputOf(id) === "input" ? ["Input", code(input)] : ["Notification", input];

/** The pushes of the notification that breaks a rule, by the reading that fits best over all notifications. */
const sendBlocks = (id: string, found: Facts | undefined): readonly (Block | undefined)[] => {
  const { reading, columns, rows } = sendTableOf(found);
  const words = requirementOf("push.schedule").readings?.[reading];
  return rows.length === 0
    ? []
    : [
        text(
          "Its pushes in seconds after the event, by the reading that fits all notifications best, ",
          strong(reading),
          words === undefined ? "" : ` (${words})`,
          ":",
        ),
        table(
          `Pushes that break ${id}, in seconds after their event`,
          columns,
          rows.map(({ cells, isWrong }) =>
            cells.map((cell, at) => (isWrong && (at === 0 || at === 3) ? strong(cell) : cell)),
          ),
        ),
      ];
};

const leftOutText = (count: number): string =>
  `${plural(count, "other exchange")} of this case, which the breach does not need; exchanges.jsonl has ${count === 1 ? "it" : "them"}`;

const replayCommand = (id: string, run: string, { program }: Place): Block => ({
  is: "command",
  command: `${program} replay ${shellWord(run)} ${id}`,
});

export const ruleGroups = (subject: Omit<GateView, "kind">, options: Place): readonly RuleGroup[] => {
  const { rules } = subject.record;
  return groups
    .map((group) => ({
      title: groupTitles[group],
      rules: rules
        .filter((result) => result.group === group)
        .map((result) => entryOf(result, subject, options)),
    }))
    .filter((one) => one.rules.length > 0);
};

const entryOf = (result: RuleResult, subject: Omit<GateView, "kind">, options: Place): RuleEntry => {
  const { id, verdict, level, durationMs } = result;
  const known = requirementOf(id);
  return {
    anchor: ruleAnchor(options, id),
    id,
    kind: verdict.kind,
    level,
    sentence: known.sentence,
    cases: casesOf(verdict),
    durationMs,
    blocks: given([
      "breach" in verdict &&
        text(link(breachAnchor(options, id), "Expected and actual, with the exchanges that show it")),
      facts(aboutRule(result, known)),
      ...evidenceOf(result, subject, options),
    ]),
  };
};

const aboutRule = (result: RuleResult, known: Requirement): readonly (Fact | false | undefined)[] => {
  const { id, verdict, level, durationMs } = result;
  const allowed = readingsOf(result);
  const others = otherFactsOf(result);
  return [
    ["Level", `${level}: ${levelMeanings[level]}`],
    ["From", `${sectionsOf(known)} of the document`],
    known.level === "derived" && ["Why it follows", known.derivation],
    known.level === "advisory" && ["Clause", known.clause],
    ["How it is judged", known.judged],
    ...whyOpen(verdict),
    allowed && ["Readings that fit", readingLines(allowed, id)],
    ...intervalsOf(result).map(([name, interval]) => [name, intervalText(interval)] as const),
    others.length > 0 && ["Measured", others.map(([name, value]) => factText(name, value)).join(" · ")],
    verdict.kind === "observed" && ["Fingerprint", code(verdict.fingerprint)],
    ["Took", elapsed(durationMs)],
  ];
};

export const readingLines = (allowed: readonly string[], id: string): Text =>
  allowed.length === 0
    ? "none"
    : lines(...allowed.map((name): Text => [strong(name), `: ${requirementOf(id).readings?.[name] ?? ""}`]));

const whyOpen = (verdict: Verdict): readonly Fact[] => {
  switch (verdict.kind) {
    case "could-not-run":
      return [
        [
          verdict.reason.startsWith(`${verdict.missing}: `) ? "What failed" : "What is missing",
          verdict.missing,
        ],
        ["Why", verdict.reason],
      ];
    case "inconclusive":
      return [
        ["Why", verdict.reason],
        ["Needed", verdict.settle],
      ];
    case "pending":
      return [
        ["Due", verdict.due],
        ["Why", verdict.reason],
      ];
    case "not-applicable":
      return [[verdict.by === "profile" ? "Stated by the profile" : "Why", verdict.reason]];
    case "harness-error":
      return [["Internal error", verdict.stack ?? verdict.message]];
    default:
      return [];
  }
};

const evidenceOf = (
  { id, verdict }: RuleResult,
  { directory, evidence }: Omit<GateView, "kind">,
  options: Place,
): readonly (Block | false)[] => {
  if ("breach" in verdict) return [];
  const seen = evidence?.get(id);
  return [
    seen !== undefined && seen.count > 0 && { is: "exchanges", ...seen, where: "exchanges.jsonl", about: "" },
    verdict.kind !== "not-applicable" && replayCommand(id, directory, options),
  ];
};

/** How many rules of each group have which verdict. */
export const groupTable = (groups: readonly RuleGroup[]): Table | undefined => {
  const all = groups.flatMap(({ rules }) => rules);
  const kinds = verdictOrder.filter((kind) => all.some((rule) => rule.kind === kind));
  return table(
    "Rules by group",
    ["Rules", ...kinds.map((kind) => `>${wordOf(kind)}`), ">cases"],
    groups.map(({ title, rules }): readonly Text[] => {
      const counts = kinds.map((kind) => rules.filter((rule) => rule.kind === kind).length);
      const worst = kinds.find((kind, at) => counts[at] !== 0 && kind !== "observed") ?? "observed";
      return [
        mark(lookOf[worst], [title]),
        ...counts.map((count) => (count === 0 ? "" : figure(count))),
        soft(figure(rules.reduce((sum, { cases }) => sum + cases, 0))),
      ];
    }),
  );
};
