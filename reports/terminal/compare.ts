import type { Comparison, RunHeading } from "../compare/compare.ts";
import type { FingerprintDifference } from "../compare/fingerprint.ts";
import type { LimitsComparison } from "../compare/limits.ts";
import type { LoadComparison } from "../compare/load.ts";
import type { ComparedRule, RulesComparison } from "../compare/rules.ts";
import { compactFields } from "../text/compact.ts";
import { plural } from "../text/figures.ts";
import { latency, percent } from "../text/latency.ts";
import { fold, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page } from "./palette.ts";
import { definitions, table } from "./table.ts";
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
          ...section(
            "Left out",
            comparison.leftOut.map((one) => wrap(safe(`${one.directory}: ${one.reason}`), page.columns)),
            page,
          ),
        ];
  const lines = [
    ...forcedLines(comparison.differences, page),
    ...definitions([
      [page.palette.dim("base"), headingLines(comparison.base, page)],
      [page.palette.dim("head"), headingLines(comparison.head, page)],
    ]),
    ...body,
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

const ruleTitles = [
  ["newly failing", "Newly failing"],
  ["newly unable", "No longer judged"],
  ["still failing", "Still failing"],
  ["fixed", "Fixed"],
  ["able again", "Judged again"],
  ["other verdict", "Another verdict"],
  ["only in head", "Only in the later run"],
  ["only in base", "Only in the earlier run"],
] as const satisfies readonly (readonly [ComparedRule["change"], string])[];

const rulesLines = ({ changes, drift, unchanged }: RulesComparison, page: Page): string[] => [
  ...ruleTitles.flatMap(([change, title]) =>
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

const right = { align: "right" } as const;

/** How a change reads: +12.3 %, -4 %. */
export const change = (ratio: number): string => {
  const rounded = Number(((ratio - 1) * 100).toFixed(1));
  return Number.isFinite(rounded) ? `${rounded > 0 ? "+" : ""}${rounded} %` : "?";
};

const loadLines = (load: LoadComparison, page: Page): string[] => {
  const { dim, red, yellow } = page.palette;
  const rows = load.latencies.map((one) => [
    safe(one.endpoint),
    one.quantile,
    latency(one.baseMs),
    latency(one.headMs),
    change(one.ratio),
    dim(
      `${change(one.interval.low)} to ${change(one.interval.high)}${one.by === "requests" ? " (too short a run)" : ""}`,
    ),
  ]);
  return [
    ...section(
      "Mind",
      load.warnings.map((text) => wrap(safe(text), page.columns).map(yellow)),
      page,
    ),
    ...section(
      "Broken under load",
      [
        ...(load.rules.length === 0
          ? []
          : [
              table(
                load.rules.map((rule) => [
                  rule.change === "newly failing" ? red(safe(rule.id)) : safe(rule.id),
                  rule.change,
                  `${rule.baseBreaches} → ${rule.headBreaches}`,
                ]),
              ),
            ]),
      ],
      page,
    ),
    ...section(
      "Latency as the user would have felt it",
      rows.length === 0
        ? []
        : [
            table(
              [
                ["endpoint", "", "base", "head", "change", "95 % interval within these runs"].map(dim),
                ...rows,
              ],
              [{}, {}, right, right, right],
            ),
          ],
      page,
    ),
    ...section(
      "Distributions",
      load.distributions.map((one) => overlaid(one, page)),
      page,
    ),
    ...section(
      "Load",
      [
        table(
          load.figures.map(({ name, unit, base, head }) => [
            name,
            figureOf(base, unit),
            "→",
            figureOf(head, unit),
          ]),
          [{}, right, {}, right],
        ),
        ...load.alone.map(({ endpoint, only }) => [`${safe(endpoint)} is in the ${only} run only`]),
      ],
      page,
    ),
  ];
};

const figureOf = (value: number, unit: LoadComparison["figures"][number]["unit"]): string => {
  if (unit === "share") return percent(value);
  return unit === "count" ? String(value) : `${value.toFixed(1)} a second`;
};

const bars = " ▁▂▃▄▅▆▇█";

/** Both distributions as bars over one logarithmic axis, the base above the head. */
const overlaid = (
  { endpoint, edgesMs, base, head }: LoadComparison["distributions"][number],
  { palette }: Page,
): string[] => {
  const greatest = Math.max(...base, ...head);
  const row = (shares: readonly number[]): string =>
    shares.map((share) => bars[Math.ceil((share / greatest) * (bars.length - 1))] ?? "").join("");
  const ends = `${latency(edgesMs[0] ?? 0)} … ${latency(edgesMs.at(-1) ?? 0)} and more, logarithmic`;
  return [
    `${palette.bold(safe(endpoint))}  ${palette.dim(ends)}`,
    `  base ${row(base)}`,
    `  head ${row(head)}`,
  ];
};

const limitsLines = (limits: LimitsComparison | undefined, page: Page): string[] => {
  if (limits === undefined) return [];
  const { palette } = page;
  const paint = (verdict: string): string =>
    ["slower", "more failures"].includes(verdict)
      ? palette.red(verdict)
      : verdict === "usual"
        ? verdict
        : palette.green(verdict);
  const amount = (metric: string, value: number): string =>
    metric === "failed share" ? percent(value) : latency(value);
  const rows = limits.metrics.map((one) => [
    safe(one.endpoint),
    one.metric,
    amount(one.metric, one.usual),
    palette.dim(`${amount(one.metric, one.low)} to ${amount(one.metric, one.high)}`),
    amount(one.metric, one.head),
    paint(one.verdict),
  ]);
  return section(
    `Against ${limits.runs} earlier runs`,
    [
      table(
        [["endpoint", "", "usual", "limits for one more run", "head", ""].map(palette.dim), ...rows],
        [{}, {}, right, right, right],
      ),
      wrap(
        `An unchanged service is outside any of these limits in at most ${percent(limits.alpha)} of all comparisons.`,
        page.columns,
      ).map(palette.dim),
    ],
    page,
  );
};
