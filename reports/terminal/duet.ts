import { mostSpoilt } from "../duet/course.ts";
import type { DuetDocument } from "../duet/document.ts";
import type { DuetResult, Member, MemberVerdict } from "../duet/model.ts";
import type { DuetPlan } from "../duet/plan.ts";
import { plural } from "../text/figures.ts";
import { change, latency, percent } from "../text/latency.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { fitted, type Page, type Palette } from "./palette.ts";
import { table } from "./table.ts";
import { section } from "./totals.ts";

const right = { align: "right" } as const;

/** What `duet` prints at its end: the plan of a pilot or the verdicts, promises that were broken, and where the record is. */
export const renderDuetRun = (
  document: DuetDocument,
  options: Page & { readonly run: string; readonly isPilot: boolean },
): string => {
  const page = fitted(options);
  const { red, yellow, dim } = page.palette;
  const body =
    document.plan !== undefined
      ? renderPlan(document.plan, options)
      : options.isPilot
        ? `${yellow("? too few clean pairs to plan from")}\n`
        : renderDuet(document, { ...options, a: document.a, b: document.b });
  const lines = [
    ...(document.state === "interrupted" ? [yellow("interrupted: this is what was played until then")] : []),
    ...tooManySpoilt(document, page.columns).map(yellow),
    ...document.broken.map(({ side, rule, times }) =>
      red(`${side} broke ${safe(rule)} ${times === 1 ? "once" : `${times} times`} under this load`),
    ),
    dim(`Record  ${safe(options.run)}`),
  ];
  return `${body}${lines.join("\n")}\n`;
};

/** Why a duet ended before all of its pairs were there, and what to do about it. */
const tooManySpoilt = ({ ended, spoilt, pairs, planned }: DuetDocument, columns: number): readonly string[] =>
  ended === "too many pairs were spoilt"
    ? wrap(
        `ended without a full verdict: ${plural(spoilt.length, "pair")} of ${spoilt.length + pairs} were spoilt, ` +
          `and of ${planned} planned ones at most ${mostSpoilt(planned)} are replaced. ` +
          "Ask for a lower --rate, or measure on a machine that has nothing else to do.",
        columns,
      )
    : [];

/** A duet: each gated metric with its verdict and what could have been seen, then what is only shown. */
export const renderDuet = (
  result: DuetResult,
  options: Page & { readonly a: string; readonly b: string },
): string => {
  const page = fitted(options);
  const { dim } = page.palette;
  const gated = result.members.filter(({ verdict }) => verdict !== undefined);
  const shown = result.members.filter(({ verdict }) => verdict === undefined);
  const ended = result.endedEarly ? ", ended early because a regression was certain" : "";
  const lines = [
    `${dim("a")}  ${safe(options.a)}`,
    `${dim("b")}  ${safe(options.b)}`,
    dim(`${result.pairs} of ${plural(result.planned, "planned pair")}${ended}`),
    ...section("Judged", gated.length === 0 ? [] : [gatedTable(gated, page)], page),
    ...section("Shown", shown.length === 0 ? [] : [shownTable(shown, page)], page),
    ...section(
      `Replaced: ${plural(result.spoilt.length, "spoilt pair")}`,
      result.spoilt.length === 0
        ? []
        : [result.spoilt.map(({ pair, reasons }) => `pair ${pair + 1}: ${safe(reasons.join("; "))}`)],
      page,
    ),
    "",
    ...wrap(explanation(result), page.columns).map(dim),
    "",
    paint(result.verdict, page.palette),
  ];
  return `${lines.join("\n")}\n`;
};

const marks: Readonly<Record<MemberVerdict, string>> = {
  regressed: "✗",
  improved: "✓",
  unchanged: "=",
  inconclusive: "?",
};

const paint = (verdict: MemberVerdict, palette: Palette): string => {
  const text = `${marks[verdict]} ${verdict}`;
  if (verdict === "regressed") return palette.red(text);
  return verdict === "inconclusive" ? palette.yellow(text) : palette.green(text);
};

const amount = (metric: Member["metric"], value: number): string =>
  metric === "throughput" ? `${value.toFixed(1)}/s` : latency(value);

/** Beyond tenfold, digits only tell that the pairs were too few. */
const MOST_SHARE = 9;

const limit = (ratio: number): string =>
  ratio - 1 > MOST_SHARE ? `over +${percent(MOST_SHARE)}` : change(ratio);

const intervalOf = ({ interval }: Member): string =>
  interval === undefined ? "unknown" : `${limit(interval[0])} to ${limit(interval[1])}`;

const rowOf = (member: Member, { palette }: Page): string[] => [
  safe(member.endpoint),
  member.metric,
  amount(member.metric, member.a),
  amount(member.metric, member.b),
  member.pairs === 0 ? "?" : change(member.ratio),
  palette.dim(intervalOf(member)),
];

const head = ["endpoint", "", "a", "b", "change", "95 % interval"];

/** Finer than a tenth of a percent no load generator can see, whatever the arithmetic says. */
const seen = (share: number): string => {
  if (share > MOST_SHARE) return `over ${percent(MOST_SHARE)}`;
  return share < 0.001 ? "under 0.1 %" : percent(share);
};

const probability = (p: number): string => (p < 0.001 ? "<0.001" : p.toFixed(3));

const gatedTable = (members: readonly Member[], page: Page): string[] =>
  table(
    [
      [...head, "p", "matters from", "could see", ""].map(page.palette.dim),
      ...members.map((member) => [
        ...rowOf(member, page),
        probability(member.adjustedP ?? 1),
        percent(member.floor ?? 0),
        member.smallestDetectable === undefined ? "nothing" : seen(member.smallestDetectable),
        paint(member.verdict ?? "inconclusive", page.palette),
      ]),
    ],
    [{}, {}, right, right, right, right, right, right, right],
  );

const shownTable = (members: readonly Member[], page: Page): string[] =>
  table(
    [head.map(page.palette.dim), ...members.map((member) => rowOf(member, page))],
    [{}, {}, right, right, right, right],
  );

const explanation = ({ rules }: DuetResult): string =>
  `"could see" is the smallest slowing that this duet finds with a probability of ${percent(rules.power)}; ` +
  `"p" is of the t test, adjusted after Holm: all judged metrics together raise a false alarm in at most ` +
  `${percent(rules.alpha)} of all duets.`;

/** How many pairs an effect needs, from a pilot. */
export const renderPlan = (plan: DuetPlan, options: Page): string => {
  const page = fitted(options);
  const rows = plan.members.map((one) => [
    safe(one.endpoint),
    one.metric,
    percent(one.deviation),
    percent(one.deviationLimit),
    String(one.pairs),
  ]);
  const lines = [
    `${plural(plan.pairs, "pair")} find a change of ${percent(plan.effect)} in every judged metric: --pairs ${plan.pairs}`,
    ...indent(
      table(
        [["endpoint", "", "noise of a pair", "planned with", "pairs"].map(page.palette.dim), ...rows],
        [{}, {}, right, right, right],
      ),
      2,
    ),
    ...wrap(
      `From ${plural(plan.pilotPairs, "pilot pair")}, planned with the upper 80 % limit of their noise.`,
      page.columns,
    ).map(page.palette.dim),
  ];
  return `${lines.join("\n")}\n`;
};
