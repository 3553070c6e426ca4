import type { ComparedRule, Comparison, RulesComparison, RunHeading } from "../compare/shape.ts";
import { isWorse } from "../compare/limits.ts";
import { changeTitles } from "../compare/shape.ts";
import { moment, plural } from "../text/figures.ts";
import { changedOf, readableFingerprint } from "../text/facts.ts";
import { requirementOf, wordOf, wordOfResult } from "../text/verdicts.ts";
import { loadComparisonSections } from "./compare-load.ts";
import {
  lookOf,
  callout,
  code,
  doc,
  facts,
  file,
  lines,
  mark,
  section,
  soft,
  strong,
  table,
  tableSection,
  text,
  type Block,
  type Card,
  type Doc,
  type Look,
  type Section,
  type Text,
} from "./model.ts";

/** Files beside the document with the reports of both runs, if they exist. */
export interface ComparedPages {
  readonly base?: string | undefined;
  readonly head?: string | undefined;
}

export const compareDoc = (comparison: Comparison, pages: ComparedPages = {}): Doc => {
  const { base, head, lacking, leftOut } = comparison;
  const [look, headline] = answerOf(comparison);
  return doc({
    title: `${head.target}: ${headline}`,
    look,
    headline,
    detail: detailOf(comparison),
    before: forced(comparison),
    about: [
      ["Base", runText(base, pages.base)],
      ["Head", runText(head, pages.head)],
    ],
    sections: [
      tableSection(
        "lacking",
        "Not checked on both sides",
        ["Side", "Why", "What"],
        [...Map.groupBy(lacking, ({ side, why }) => `${side}\n${why}`).values()].map((members) => [
          members[0]?.side ?? "",
          members[0]?.why ?? "",
          members.map(({ what }) => what).join(", "),
        ]),
      ),
      ...(comparison.kind === "conform"
        ? rulesSections(comparison.rules)
        : loadComparisonSections(comparison.load, comparison.limits, comparison.unjudged)),
      tableSection(
        "left-out",
        "Runs left out",
        ["Run", "Why"],
        leftOut.map(({ directory, reason }) => [code(directory), reason]),
      ),
    ],
    source: `${base.directory} and ${head.directory}`,
  });
};

const answerOf = (comparison: Comparison): readonly [Look, string] => {
  const { verdict, differences } = comparison;
  if (verdict === "regressed") return [["bad", "cross"], "The head run is worse than the base."];
  if (verdict === "incomplete")
    return [
      ["open", "question"],
      differences.length > 0
        ? "Forced: the two runs did not make the same checks."
        : "Incomplete: the two runs did not complete the same checks.",
    ];
  if (verdict === "drifted") return [["warn", "unequal"], "A pinned observation changed."];
  return [["good", "check"], unchangedHeadline(comparison)];
};

/** What was not judged is not said to be no worse. */
const unchangedHeadline = (comparison: Comparison): string => {
  if (comparison.kind === "conform") return "Nothing newly fails.";
  return comparison.limits === undefined
    ? "Nothing newly fails under load; so few runs cannot judge speed."
    : "Nothing newly fails under load, and no metric is judged worse.";
};

const detailOf = (comparison: Comparison): string => {
  const missing = comparison.lacking
    .filter(({ what }) => what === "the run")
    .map(({ side, why }) => `The ${side} run is incomplete: ${why}. `)
    .join("");
  if (comparison.kind === "conform") {
    const { changes, drift, unchanged } = comparison.rules;
    const count = (change: string): number => changes.filter((one) => one.change === change).length;
    const unknown = count("failing unjudged");
    return `${missing}${plural(count("newly failing"), "rule")} newly failing, ${unknown === 0 ? "" : `${unknown} failing and not judged before, `}${count("fixed")} fixed, ${count("newly unable")} no longer judged; ${plural(drift.length, "observation")} changed; ${plural(unchanged, "rule")} with the same verdict in both.`;
  }
  const { limits, unjudged, load } = comparison;
  const slower = limits?.metrics.filter(isWorse);
  const changed = (change: string): number => load.rules.filter((one) => one.change === change).length;
  const unknown = changed("failing unjudged");
  const missed = load.objectives.filter(({ change }) => change === "newly missed");
  return `${missing}${plural(changed("newly failing"), "promise")} newly broken${unknown === 0 ? "" : `, ${unknown} broken and not checked before,`} and ${plural(missed.length, "objective")} newly missed under load. ${
    slower === undefined
      ? `Speed is shown, not judged${unjudged === undefined ? "" : `: ${unjudged}`}.`
      : `${plural(slower.length, "metric")} beyond the limits of the earlier runs.`
  }`;
};

const runText = (
  { directory, target, baseUrl, behaviour, startedAt, tool, outcome }: RunHeading,
  page: string | undefined,
): Text =>
  lines(
    code(directory),
    soft(
      [
        target,
        baseUrl,
        ...(behaviour === undefined ? [] : [`behaviour ${behaviour}`]),
        moment(startedAt),
        `Touchstone ${tool}`,
        outcome,
      ].join(" · "),
    ),
    page !== undefined && file(page, "The report of this run"),
  );

const forced = ({ differences }: Comparison): readonly (Block | false)[] => [
  differences.length > 0 &&
    callout(
      `Comparison forced: these runs differ in ${differences.map(({ part }) => part).join(", ")}`,
      table(
        "Differences",
        ["Part", "Base", "Head"],
        differences.map((one) => [one.part, one.base || "(none)", one.head || "(none)"]),
      ),
    ),
];

const rulesSections = ({ changes, drift, unchanged }: RulesComparison): readonly Section[] => [
  ...changeTitles.map(([change, title]) =>
    section(
      change.replaceAll(" ", "-"),
      title,
      ...changes.filter((one) => one.change === change).map(ruleCard),
    ),
  ),
  tableSection(
    "drift",
    "Observed behaviour that changed",
    ["Observation", "Was", "Now", "Pinned"],
    drift.map(({ id, base, head, pinned }) => [
      code(id),
      ...changedOf(base, head).map((one) => code(readableFingerprint(one))),
      pinned ? "pinned" : "",
    ]),
  ),
  section("unchanged", "Unchanged", text(`${plural(unchanged, "rule")} with the same verdict in both.`)),
];

const ruleCard = (one: ComparedRule): Card => {
  const { id, base, head, level, expected, actual, reason } = one;
  return {
    is: "card",
    tone: head === "failed" || head === "warned" ? head : undefined,
    header: head === undefined ? code(id) : mark(lookOf[head], code(id), wordOf(head)),
    beside: `${wordOfResult(base)} before, ${wordOfResult(head)} now${level === "advisory" ? ", advisory" : ""}`,
    promise: requirementOf(id).sentence,
    blocks: [
      facts([
        expected !== undefined && ["Expected", expected],
        actual !== undefined && ["Seen", strong(actual)],
        reason !== undefined && ["Because", reason],
      ]),
    ],
  };
};
