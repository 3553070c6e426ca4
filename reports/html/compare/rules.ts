import type { VNode } from "preact";
import type { ComparedRule, RulesComparison } from "../../compare/rules.ts";
import { plural } from "../../text/figures.ts";
import { isVerdict } from "../../text/verdicts.ts";
import { knownRequirement, changeTitles } from "../../terminal/titles.ts";
import { el, type Child } from "../element.ts";
import { mark } from "../mark.ts";
import { facts, table } from "../parts.ts";
import type { Part } from "../part.ts";

/** Two runs of the gate: what became of each rule, and which observations came out differently. */
export const rulesComparisonParts = ({ changes, drift, unchanged }: RulesComparison): readonly Part[] => [
  ...changeTitles.flatMap(([change, title]) => {
    const of = changes.filter((one) => one.change === change);
    return of.length === 0 ? [] : [{ id: change.replaceAll(" ", "-"), title, content: of.map(ruleCard) }];
  }),
  ...(drift.length === 0
    ? []
    : [{ id: "drift", title: "Observed behaviour that changed", content: [driftTable(drift)] }]),
  {
    id: "unchanged",
    title: "Unchanged",
    content: [el("p", {}, `${plural(unchanged, "rule")} with the same verdict in both.`)],
  },
];

const isWorse = ({ change }: ComparedRule): boolean =>
  change === "newly failing" || change === "still failing";

const ruleCard = (one: ComparedRule): VNode =>
  el(
    "article",
    { class: isWorse(one) ? `breach ${one.head === "warned" ? "warned" : "failed"}` : "breach" },
    el(
      "header",
      {},
      ...verdictMark(one.head),
      el("h4", {}, el("code", {}, one.id)),
      el(
        "span",
        { class: "soft" },
        `${one.base ?? "no result"} before, ${one.head ?? "no result"} now${one.level === "advisory" ? ", advisory" : ""}`,
      ),
    ),
    el("p", { class: "promise" }, knownRequirement(one.id)?.sentence ?? ""),
    facts(
      [
        one.expected === undefined ? undefined : ["Expected", one.expected],
        one.actual === undefined ? undefined : ["Seen", el("strong", {}, one.actual)],
        one.reason === undefined ? undefined : ["Because", one.reason],
      ],
      "about",
    ),
  );

const verdictMark = (kind: string | undefined): readonly Child[] =>
  kind !== undefined && isVerdict(kind) ? [mark(kind)] : [];

const driftTable = (drift: RulesComparison["drift"]): VNode =>
  table(
    "Observed behaviour that changed",
    ["Observation", "Was", "Is", "Pinned"],
    drift.map(({ id, base, head, pinned }) => [
      el("code", {}, id),
      el("code", { class: "wrap" }, base),
      el("code", { class: "wrap" }, head),
      pinned ? "pinned" : "",
    ]),
  );
