import type { VNode } from "preact";
import type { Comparison, RunHeading } from "../../compare/compare.ts";
import { plural } from "../../text/figures.ts";
import { el, type Child } from "../element.ts";
import type { Icon } from "../icons.ts";
import { toneMark, type Tone } from "../mark.ts";
import { facts, table } from "../parts.ts";
import type { Part } from "../part.ts";
import { renderPage, sectionsOf } from "../shell.ts";
import { loadComparisonParts } from "./load.ts";
import { rulesComparisonParts } from "./rules.ts";

/** Two runs beside each other as one page; of load runs, with the limits that earlier ones set. */
export const renderCompareHtml = (comparison: Comparison): string => {
  const { base, head } = comparison;
  const parts = partsOf(comparison);
  const [tone, icon, headline] = answerOf(comparison);
  return renderPage({
    title: `${head.target}: ${headline}`,
    tone,
    contents: [{ title: "Comparison", id: "answer", parts }],
    main: [
      el(
        "section",
        { class: "overview", "aria-labelledby": "answer" },
        forced(comparison),
        el(
          "div",
          { class: "answer" },
          toneMark(tone, icon, comparison.verdict),
          el(
            "div",
            {},
            el("h1", { id: "answer" }, headline),
            el("p", { class: "detail" }, detailOf(comparison)),
          ),
        ),
        facts([
          ["Base", run(base)],
          ["Head", run(head)],
        ]),
      ),
      sectionsOf(parts),
      el("footer", { class: "soft" }, `Written by Touchstone from ${base.directory} and ${head.directory}.`),
    ],
  });
};

const answerOf = ({ verdict, kind }: Comparison): readonly [Tone, Icon, string] => {
  if (verdict === "regressed") return ["bad", "cross", "The head run is worse than the base."];
  if (verdict === "drifted") return ["warn", "unequal", "A pinned observation changed."];
  return kind === "conform"
    ? ["good", "check", "Nothing newly fails."]
    : ["good", "check", "Nothing is judged to be worse."];
};

const detailOf = (comparison: Comparison): string => {
  if (comparison.kind === "conform") {
    const { changes, drift, unchanged } = comparison.rules;
    const count = (change: string): number => changes.filter((one) => one.change === change).length;
    return `${plural(count("newly failing"), "rule")} newly failing, ${count("fixed")} fixed, ${count("newly unable")} no longer judged; ${plural(drift.length, "observation")} changed; ${plural(unchanged, "rule")} as before.`;
  }
  const { limits, unjudged, load } = comparison;
  const slower = limits?.metrics.filter(({ verdict }) => verdict === "slower" || verdict === "more failures");
  const broken = load.rules.filter(({ change }) => change === "newly failing");
  return [
    `${plural(broken.length, "promise")} newly broken under load.`,
    slower === undefined
      ? `Speed is shown, not judged${unjudged === undefined ? "" : `: ${unjudged}`}.`
      : `${plural(slower.length, "metric")} beyond the limits of the earlier runs.`,
  ].join(" ");
};

const run = ({ directory, target, baseUrl, behaviour, startedAt, tool, outcome }: RunHeading): Child => [
  el("code", { class: "wrap" }, directory),
  el(
    "div",
    { class: "soft" },
    [
      target,
      baseUrl,
      ...(behaviour === undefined ? [] : [`behaviour ${behaviour}`]),
      startedAt.slice(0, 19).replace("T", " "),
      `Touchstone ${tool}`,
      outcome,
    ].join(" · "),
  ),
];

/** What makes this comparison weaker than it looks stands above everything. */
const forced = ({ differences, altered }: Comparison): readonly VNode[] => [
  ...(differences.length === 0
    ? []
    : [
        el(
          "div",
          { class: "callout" },
          el("h2", {}, "Compared by force: these runs differ in what makes runs comparable"),
          table(
            "What they differ in",
            ["Part", "Base", "Head"],
            differences.map((one) => [one.part, one.base || "(none)", one.head || "(none)"]),
          ),
        ),
      ]),
  ...altered.map(({ directory, files }) =>
    el(
      "p",
      { class: "note" },
      `Read by force: ${directory} was altered after it was sealed (${files.join(", ")}).`,
    ),
  ),
];

const partsOf = (comparison: Comparison): readonly Part[] => [
  ...(comparison.kind === "conform"
    ? rulesComparisonParts(comparison.rules)
    : loadComparisonParts(comparison.load, comparison.limits, comparison.unjudged)),
  ...(comparison.leftOut.length === 0
    ? []
    : [
        {
          id: "left-out",
          title: "Runs that were left out",
          content: [
            table(
              "Runs that were left out",
              ["Run", "Why"],
              comparison.leftOut.map(({ directory, reason }) => [el("code", {}, directory), reason]),
            ),
          ],
        },
      ]),
];
