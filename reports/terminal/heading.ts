import { duration } from "../../conformance/contract/duration.ts";
import { documentLimits } from "../../conformance/contract/limits.ts";
import type { RunRecord } from "../../conformance/contract/record.ts";
import { words } from "../text/compact.ts";
import { cut, flow, fold, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { table } from "./table.ts";

/** The first lines of a report: limits that are not the document's before all else, then the target and how it was judged. */
export const heading = (record: RunRecord, page: Page): string[] => {
  const { bold, dim } = page.palette;
  const { target } = record;
  const how = [
    `Touchstone ${record.tool}`,
    `effort ${record.effort}`,
    `seed ${record.seed}`,
    `${target.clock} clock`,
    ...(target.behaviour === undefined ? [] : [`behaviour ${target.behaviour}`]),
    ...(record.strict ? ["strict"] : []),
  ];
  return [
    ...replacedLimits(record, page),
    ...flow(
      [bold(cut(safe(target.name), page.columns)), ...fold(safe(target.baseUrl), page.columns, 3)],
      "  ",
      page.columns,
    ),
    ...flow(how.map(safe), " · ", page.columns).map(dim),
    ...target.profiles.flatMap((file) => fold(safe(`profile ${file}`), page.columns, 3)).map(dim),
    ...record.notes.flatMap((note) => wrap(safe(note), page.columns)),
  ];
};

const replacedLimits = (record: RunRecord, { palette }: Page): string[] => {
  if (record.replacedLimits.length === 0) return [];
  const rows = record.replacedLimits.map((name) => [
    words(safe(name)),
    palette.bold(limit(name, record.limits[name])),
    palette.dim(`the document says ${limit(name, documentLimit(name))}`),
  ]);
  return [palette.yellow("Judged by limits that are not the document's:"), ...indent(table(rows), 2), ""];
};

type Limit = RunRecord["limits"][string];

const documentLimit = (name: string): Limit | undefined =>
  Object.entries<Limit>({ ...documentLimits, pushDelaysMs: [...documentLimits.pushDelaysMs] }).find(
    ([key]) => key === name,
  )?.[1];

const limit = (name: string, value: Limit | undefined): string => {
  if (value === undefined) return "nothing";
  if (typeof value !== "number") return value.map((one) => limit(name, one)).join(", ");
  return name.endsWith("Ms") ? duration(value) : String(value);
};
