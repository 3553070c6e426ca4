import { catalogue, requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import type { DetectReport, Survivor } from "../../conformance/contract/detect.ts";
import { groups } from "../../conformance/contract/requirement.ts";
import { elapsed, figure, plural } from "../text/figures.ts";
import { flow, indent, padEnd, widest, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { matrixLines } from "./matrix.ts";
import { fitted, narrowed, type Page } from "./palette.ts";
import { section, definitions } from "./table.ts";
import { groupTitles } from "../text/titles.ts";
import { wordOf } from "../text/verdicts.ts";

/** What detection came to: for each rule the defects that it killed, then survivors, false alarms and totals. */
export const renderDetect = (report: DetectReport, options: Page): string => {
  const page = fitted(options);
  const { palette } = page;
  const lines = [
    palette.bold(`Detection at ${safe(report.effort)} effort`),
    palette.dim("beside each defect: the cases that the rule had judged when it failed"),
    ...groups.flatMap((group) => groupLines(report, group, page)),
    ...unproven(report, page),
    ...survivors(report, page),
    ...falseAlarms(report, page),
    ...unsettled(report, page),
    ...(report.matrix === undefined
      ? []
      : ["", palette.bold("Matrix"), ...indent(matrixLines(report.matrix, narrowed(page, 2)), 2)]),
    "",
    ...totals(report, page),
  ];
  return `${lines.join("\n")}\n`;
};

/** One line for a run that was interrupted: it proves nothing, so it lists nothing. */
export const renderInterrupted = (report: DetectReport): string => {
  const { defects, variants } = report;
  const tried = defects.total - untriedDefects(report);
  const judged =
    variants.judged === undefined
      ? ""
      : ` and ${figure(variants.judged)} of ${plural(variants.total, "variant")}`;
  return `Interrupted after ${figure(tried)} of ${plural(defects.total, "defect")}${judged}; seed ${report.seed}. That proves nothing.\n`;
};

const groupLines = (report: DetectReport, group: (typeof groups)[number], page: Page): string[] => {
  const ids = requirementIds.filter((id) => catalogue[id].group === group && isBroken(report, id));
  if (ids.length === 0) return [];
  return ["", page.palette.bold(groupTitles[group]), ...ids.flatMap((id) => ruleLines(report, id, page))];
};

const isBroken = ({ defects }: DetectReport, id: RequirementId): boolean =>
  [...defects.kills, ...defects.survivors].some(({ rule }) => rule === id);

const ruleLines = ({ defects }: DetectReport, id: RequirementId, { palette, columns }: Page): string[] => {
  const kills = defects.kills.filter(({ rule }) => rule === id);
  const survived = defects.survivors.filter(({ rule }) => rule === id);
  const names = [
    ...survived.map(({ name }) => palette.red(`${safe(name)} survived`)),
    ...kills.map(({ defect, cases }) => `${safe(defect)} ${palette.dim(figure(cases))}`),
  ];
  return [
    `  ${survived.length > 0 ? palette.red("✗") : palette.green("✓")} ${padEnd(id, idWidth)}  ${palette.dim(`${kills.length} of ${plural(names.length, "defect")}`)}`,
    ...indent(flow(names, palette.dim(" · "), columns - 6), 6),
  ];
};

/** Rules that fail the gate and that no defect is declared to break: nothing shows that they can see. */
const unproven = (report: DetectReport, page: Page): string[] => {
  const ids = requirementIds.filter(
    (id) => ["required", "derived"].includes(catalogue[id].level) && !isBroken(report, id),
  );
  return ids.length === 0
    ? []
    : [
        "",
        page.palette.bold(`Broken by no defect (${ids.length})`),
        ...indent(wrap(ids.join(", "), page.columns - 2).map(page.palette.dim), 2),
      ];
};

const idWidth = widest(requirementIds);

const survivors = ({ defects }: DetectReport, page: Page): string[] =>
  listed(
    `Survivors (${defects.survivors.length})`,
    defects.survivors.map((one) => ({ ...one, mark: page.palette.red("✗") })),
    page,
  );

/** Names with the rule that is in question, what it said, and why. */
const listed = (
  title: string,
  entries: readonly (Survivor & { readonly mark: string })[],
  page: Page,
): string[] => {
  const lines = entries.flatMap(({ name, rule, verdict, reason, mark }) => [
    `${mark} ${safe(name)}  ${page.palette.dim(`${rule}: ${wordOf(verdict)}`)}`,
    ...indent(reason === undefined ? [] : wrap(safe(reason), page.columns - 4), 2),
  ]);
  return section(title, lines.length === 0 ? [] : [lines], page);
};

const falseAlarms = ({ variants }: DetectReport, page: Page): string[] =>
  section(
    `False alarms (${variants.falseAlarms.length})`,
    variants.falseAlarms.map(({ variant, rule, expected, actual }) => [
      `${page.palette.red("✗")} ${page.palette.bold(safe(variant))}  ${page.palette.dim(rule)}`,
      ...indent(
        definitions(
          [
            ["expected", expected],
            ["actual", actual],
          ].map(([label, text]) => [
            page.palette.dim(label ?? ""),
            wrap(safe(text ?? ""), page.columns - 14),
          ]),
        ),
        2,
      ),
    ]),
    page,
  );

/** Rules left open on variants, grouped by rule and reason. */
const unsettled = ({ variants }: DetectReport, { palette, columns }: Page): string[] => {
  const open = variants.unsettled ?? [];
  const causes = Map.groupBy(open, ({ rule, verdict, reason }) => `${rule}\n${verdict}\n${reason ?? ""}`);
  const lines = [...causes.values()].flatMap((members) => {
    const [first] = members;
    if (first === undefined) return [];
    const names = members.map(({ variant }) => safe(variant));
    return [
      `${palette.yellow("?")} ${first.rule}: ${wordOf(first.verdict)}`,
      ...indent(first.reason === undefined ? [] : wrap(safe(first.reason), columns - 4), 2),
      ...indent(flow(names, " · ", columns - 4).map(palette.dim), 2),
    ];
  });
  return section(`Not settled on a variant (${open.length})`, lines.length === 0 ? [] : [lines], {
    palette,
    columns,
  });
};

/** Defects that were neither killed nor survived were never tried: the run was cut short. */
const untriedDefects = ({ defects }: DetectReport): number =>
  defects.total - defects.killed - new Set(defects.survivors.map(({ name }) => name)).size;

const totals = (report: DetectReport, { palette }: Page): string[] => {
  const { defects, variants, durationMs, seed } = report;
  const untried = untriedDefects(report);
  const judged = variants.judged ?? (untried > 0 ? undefined : variants.total);
  const mark = (good: boolean, text: string): string => (good ? palette.green : palette.red)(text);
  const left = untried > 0 ? `, ${figure(untried)} not tried` : "";
  return definitions(
    (
      [
        [
          "Defects",
          mark(
            defects.killed === defects.total && defects.total > 0,
            `${defects.killed} of ${plural(defects.total, "defect")} killed${left}`,
          ),
        ],
        [
          "Variants",
          mark(judged === variants.total && variants.falseAlarms.length === 0, variantsText(report, judged)),
        ],
        ...(untried > 0 || judged !== variants.total
          ? [["Outcome", palette.yellow("the run was cut short: what was not tried proves nothing")] as const]
          : []),
        ["Took", palette.dim(`${elapsed(durationMs)}, seed ${seed}`)],
      ] as const
    ).map(([label, text]) => [palette.bold(label), [text]]),
  );
};

/** Speaks of as many variants as were judged; of none where that is not known. */
const variantsText = ({ variants }: DetectReport, judged: number | undefined): string => {
  const alarmed = new Set(variants.falseAlarms.map(({ variant }) => variant)).size;
  const all = plural(variants.total, "variant");
  const partly = judged === undefined ? `those of ${all} that were judged` : `${figure(judged)} of ${all}`;
  const of = judged === variants.total ? all : partly;
  return alarmed === 0
    ? `no false alarm on ${of}`
    : `${plural(variants.falseAlarms.length, "false alarm")}, on ${plural(alarmed, "variant")} among ${of}`;
};
