import type { RuleResult } from "../../conformance/contract/record.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { bracketsOf, bracketSides } from "../text/facts.ts";
import { figure, plural } from "../text/figures.ts";
import { flow, indent, widest, width, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import { lifetimes, readingsOf, schedules, titled } from "./measured.ts";
import type { Page } from "./palette.ts";
import { definitions, table } from "./table.ts";
import { groupTitles } from "./titles.ts";
import { inColourOf, symbolOf } from "./verdicts.ts";

/** The short report: how each group of rules came out, and of what was measured only what a reader looks for. */
export const brief = (results: readonly RuleResult[], page: Page): string[] => [
  ...groupTable(results, page),
  ...lifetimeTable(results, page),
  ...readingTable(results, page),
  ...schedules(results, page),
  ...observedCount(results, page),
];

/** One line a group: what its rules came to, and how many cases they judged. */
const groupTable = (results: readonly RuleResult[], page: Page): string[] => {
  const { palette } = page;
  const shown = groups
    .map((group) => ({ group, rules: results.filter((result) => result.group === group) }))
    .filter(({ rules }) => rules.length > 0);
  if (shown.length === 0) return [];
  const kinds = verdictOrder.filter((kind) => results.some(({ verdict }) => verdict.kind === kind));
  const rows = shown.map(({ group, rules }) => {
    const counts = kinds.map((kind) => rules.filter(({ verdict }) => verdict.kind === kind).length);
    const worst = kinds.find((kind, at) => counts[at] !== 0 && kind !== "observed") ?? "observed";
    const cases = rules.reduce((sum, { verdict }) => sum + casesOf(verdict), 0);
    return { title: `${symbolOf(worst, palette)} ${groupTitles[group]}`, counts, cases };
  });
  const lines = table(
    [
      ["", ...kinds.map(wordOf), "cases"].map(palette.dim),
      ...rows.map(({ title, counts, cases }) => [
        title,
        ...counts.map((count, at) => countText(count, kinds[at] ?? "passed", page)),
        palette.dim(figure(cases)),
      ]),
    ],
    [{}, ...kinds.map(() => ({ align: "right" as const })), { align: "right" }],
  );
  return ["", ...(widest(lines) <= page.columns ? lines : groupLines(rows, kinds, page))];
};

type Kinds = readonly (typeof verdictOrder)[number][];

const countText = (count: number, kind: Kinds[number], { palette }: Page): string =>
  count === 0 ? "" : inColourOf(kind, palette, figure(count));

/** The same for a narrow terminal: counts with their words, in as many lines as they need. */
const groupLines = (
  rows: readonly { readonly title: string; readonly counts: readonly number[]; readonly cases: number }[],
  kinds: Kinds,
  page: Page,
): string[] => {
  const titleWidth = widest(rows.map(({ title }) => title));
  return definitions(
    rows.map(({ title, counts, cases }) => [
      title,
      flow(
        [
          ...kinds.flatMap((kind, at) =>
            counts[at] === 0
              ? []
              : [inColourOf(kind, page.palette, `${figure(counts[at] ?? 0)} ${wordOf(kind)}`)],
          ),
          page.palette.dim(plural(cases, "case")),
        ],
        " · ",
        page.columns - titleWidth - 2,
      ),
    ]),
  );
};

/** Lifetimes with their brackets as one table; where it does not fit, as in the long report. */
const lifetimeTable = (results: readonly RuleResult[], page: Page): string[] => {
  const { palette } = page;
  const rows = results.flatMap(bracketRows);
  if (rows.length === 0) return [];
  const head = ["Lifetimes", "promised", "accepted up to", "refused from"];
  const cells = rows.map(({ id, sides, of }) => ({ line: [id === "" ? "" : `  ${id}`, ...sides], of }));
  const widths = head.map((title, at) => widest([title, ...cells.map(({ line }) => line[at] ?? "")]));
  const rest = page.columns - widths.reduce((sum, width) => sum + width + 2, 0);
  if (rest < 0) return lifetimes(results, page);
  const lines = table([
    head.map((title, at) => (at === 0 ? palette.bold : palette.dim)(title)),
    ...cells.map(({ line, of }) => [...line, width(of) <= rest ? palette.dim(of) : ""]),
  ]);
  return ["", ...lines];
};

interface BracketRow {
  /** Empty where the row above is of the same rule. */
  readonly id: string;
  /** What was promised, accepted and refused. */
  readonly sides: readonly string[];
  readonly of: string;
}

/** A row for each bracket of a rule; those that are the same together. */
const bracketRows = (result: RuleResult): readonly BracketRow[] => {
  const measured = bracketsOf(result)
    .map(([name, bracket]) => ({ name: safe(name), sides: bracketSides(bracket) }))
    .filter(({ sides: [, accepted, refused] }) => accepted !== "" || refused !== "");
  return [...Map.groupBy(measured, ({ sides }) => sides.join("\n")).values()].map((members, at) => ({
    id: at === 0 ? safe(result.id) : "",
    sides: members[0]?.sides ?? [],
    of: members.length === 1 ? (members[0]?.name ?? "") : plural(members.length, "kind"),
  }));
};

const readingTable = (results: readonly RuleResult[], page: Page): string[] => {
  const entries = results.flatMap((result) => {
    const readings = readingsOf(result);
    return readings === undefined ? [] : [[safe(result.id), readings] as const];
  });
  const columns = page.columns - widest(entries.map(([id]) => id)) - 4;
  const lines = definitions(
    entries.map(([id, readings]) => [
      id,
      readings.length === 0
        ? ["none"]
        : readings.flatMap(({ name, sentence }) => {
            const [first = "", ...more] = wrap(`${name}  ${sentence}`.trimEnd(), columns - 2);
            return [first, ...indent(more, 2)].map((line) => page.palette.dim(line));
          }),
    ]),
  );
  return titled("Readings that the evidence allows", lines, page);
};

const observedCount = (results: readonly RuleResult[], { palette, columns }: Page): string[] => {
  const count = results.filter(({ verdict }) => verdict.kind === "observed").length;
  const text = `${plural(count, "observation")} where the document leaves it open: --verbose shows what was seen`;
  return count === 0 ? [] : ["", ...wrap(text, columns).map(palette.dim)];
};
