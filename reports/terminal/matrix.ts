import { requirementIds, type RequirementId } from "../../conformance/contract/catalogue.ts";
import type { MatrixRow } from "../../conformance/contract/detect.ts";
import { cut, flow, padEnd, widest } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page, Palette } from "./palette.ts";

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const legend = [
  "● failed as declared",
  "○ declared and did not fail",
  "× failed too",
  "· held",
  "? not settled",
];

/** Every defect against every rule, one character each; as many rules side by side as the page holds, each with its letter. */
export const matrixLines = (rows: readonly MatrixRow[], page: Page): string[] => {
  const nameWidth = Math.min(40, widest(rows.map(({ defect }) => safe(defect))));
  const fit = Math.min(letters.length, page.columns - nameWidth - 2);
  const rules = requirementIds.filter((id) => rows.some((row) => row.verdicts[id] !== undefined));
  const chunks = Array.from({ length: Math.ceil(rules.length / fit) }, (_, at) =>
    rules.slice(at * fit, (at + 1) * fit),
  );
  return [
    ...flow(legend, "   ", page.columns).map(page.palette.dim),
    ...chunks.flatMap((chunk) => ["", ...chunkLines(rows, chunk, nameWidth, page)]),
  ];
};

const chunkLines = (
  rows: readonly MatrixRow[],
  rules: readonly RequirementId[],
  nameWidth: number,
  { palette, columns }: Page,
): string[] => [
  ...flow(
    rules.map((id, at) => `${letters[at]} ${id}`),
    "  ",
    columns,
  ).map(palette.dim),
  `${" ".repeat(nameWidth)}  ${palette.dim(letters.slice(0, rules.length))}`,
  ...rows.map(
    (row) =>
      `${padEnd(cut(safe(row.defect), nameWidth), nameWidth)}  ${rules.map((id) => cellOf(row, id, palette)).join("")}`,
  ),
];

const cellOf = ({ breaks, verdicts }: MatrixRow, id: RequirementId, palette: Palette): string => {
  const declared = breaks.includes(id);
  switch (verdicts[id]) {
    case undefined:
      return " ";
    case "failed":
    case "warned":
      return declared ? palette.green("●") : palette.yellow("×");
    case "passed":
    case "observed":
      return declared ? palette.red("○") : palette.dim("·");
    default:
      return declared ? palette.red("○") : palette.dim("?");
  }
};
