import type { Comparison, RunHeading } from "../compare/compare.ts";
import type { FingerprintDifference } from "../compare/fingerprint.ts";
import type { ComparedRule, RulesComparison } from "../compare/rules.ts";
import { compactFields } from "../text/compact.ts";
import { plural } from "../text/figures.ts";
import { fold, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { limitsLines, loadLines } from "./compare-load.ts";
import { fitted, type Page } from "./palette.ts";
import { definitions } from "./table.ts";
import { changeTitles } from "./titles.ts";
import { section } from "./totals.ts";

/** Two runs side by side: what differs in what was asked, rule by rule, observations, speed, and what it comes to. */
export const renderCompare = (comparison: Comparison, options: Page): string => {
  const page = fitted(options);
  const body =
    comparison.kind === "conform"
      ? rulesLines(comparison.rules, page)
      : [
          ...loadLines(comparison.load, page),
          ...limitsLines(comparison.limits, page),
          ...section("Speed is shown, not judged", sentence(comparison.unjudged, page), page),
        ];
  const lines = [
    ...forcedLines(comparison.differences, page),
    ...comparison.altered.map(({ directory, files }) =>
      page.palette.yellow(
        safe(`Read by force: ${directory} was altered after it was sealed (${files.join(", ")})`),
      ),
    ),
    ...definitions([
      [page.palette.dim("base"), headingLines(comparison.base, page)],
      [page.palette.dim("head"), headingLines(comparison.head, page)],
    ]),
    ...body,
    ...section(
      "Left out",
      comparison.leftOut.map((one) => wrap(safe(`${one.directory}: ${one.reason}`), page.columns - 2)),
      page,
    ),
    "",
    verdictLine(comparison, page),
  ];
  return `${lines.join("\n")}\n`;
};

const sentence = (text: string | undefined, { columns }: Page): string[][] =>
  text === undefined ? [] : [wrap(safe(text), columns)];

const forcedLines = (parts: readonly FingerprintDifference[], { palette, columns }: Page): string[] =>
  parts.length === 0
    ? []
    : [
        palette.yellow(
          `Compared by force: these runs differ in ${parts.map(({ part }) => safe(part)).join(", ")}`,
        ),
        ...indent(
          parts.flatMap((one) =>
            fold(safe(`${one.part}: ${one.base || "(none)"} / ${one.head || "(none)"}`), columns - 2, 3),
          ),
          2,
        ),
        "",
      ];

const headingLines = (run: RunHeading, { palette, columns }: Page): string[] => {
  const what = [
    run.target,
    ...(run.behaviour === undefined ? [] : [`behaviour ${run.behaviour}`]),
    run.startedAt,
    `Touchstone ${run.tool}`,
    run.outcome,
  ];
  return [...fold(safe(run.directory), columns - 6, 2), palette.dim(safe(what.join(" · ")))];
};

const verdictLine = ({ verdict, kind }: Comparison, { palette }: Page): string =>
  ({
    regressed: palette.red("✗ regressed"),
    drifted: palette.yellow("✗ a pinned observation changed"),
    "no regression": palette.green(
      kind === "conform" ? "✓ nothing newly fails" : "✓ nothing is judged to be worse",
    ),
  })[verdict];

const rulesLines = ({ changes, drift, unchanged }: RulesComparison, page: Page): string[] => [
  ...changeTitles.flatMap(([change, title]) =>
    section(
      title,
      changes.filter((one) => one.change === change).map((one) => ruleLines(one, page)),
      page,
    ),
  ),
  ...section(
    "Observed behaviour that changed",
    drift.map(({ id, base, head, pinned }) => [
      `${id}${pinned ? page.palette.yellow("  pinned") : ""}`,
      ...indent(fold(`was ${shownFingerprint(base)}`, page.columns - 2, 3), 2),
      ...indent(fold(`now ${shownFingerprint(head)}`, page.columns - 2, 3), 2),
    ]),
    page,
  ),
  "",
  page.palette.dim(`${plural(unchanged, "rule")} with the same verdict in both`),
];

const ruleLines = (one: ComparedRule, { palette, columns }: Page): string[] => {
  const from = palette.dim(`${one.base ?? "no result"} → ${one.head ?? "no result"}`);
  const level = one.level === "advisory" ? palette.dim("  advisory") : "";
  const said = [
    ...(one.expected === undefined ? [] : [["expected", one.expected] as const]),
    ...(one.actual === undefined ? [] : [["actual", one.actual] as const]),
    ...(one.reason === undefined ? [] : [["because", one.reason] as const]),
  ];
  const beside = definitions(said.map(([name, text]) => [palette.dim(name), wrap(safe(text), columns - 14)]));
  return [`${palette.bold(one.id)}  ${from}${level}`, ...indent(beside, 2)];
};

const shownFingerprint = (fingerprint: string): string => {
  try {
    return compactFields(JSON.parse(fingerprint));
  } catch {
    return safe(fingerprint);
  }
};
