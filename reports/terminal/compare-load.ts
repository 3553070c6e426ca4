import type { LimitsComparison } from "../compare/limits.ts";
import type { LoadComparison } from "../compare/load.ts";
import { change, latency, percent } from "../text/latency.ts";
import { wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { table } from "./table.ts";
import { section } from "./totals.ts";

const right = { align: "right" } as const;

/** Two load runs side by side: what was broken, latencies, their distributions, what was achieved. */
export const loadLines = (load: LoadComparison, page: Page): string[] => {
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
      load.rules.length === 0
        ? []
        : [
            table(
              load.rules.map((rule) => [
                rule.change === "newly failing" ? red(safe(rule.id)) : safe(rule.id),
                rule.change,
                `${rule.baseBreaches} → ${rule.headBreaches}`,
              ]),
            ),
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

/** A load run against the limits of earlier ones; nothing where there are too few. */
export const limitsLines = (limits: LimitsComparison | undefined, page: Page): string[] => {
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
