import type { RuleResult } from "../../conformance/contract/record.ts";
import { factsOf, scheduleRowsOf, type ScheduleRow } from "../text/facts.ts";
import { indent } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { table } from "./table.ts";

/** The schedule of pushes as it was measured beside what each reading expects; a reading that the evidence allows stands out. */
export const schedule = (result: RuleResult, { palette }: Page): string[] => {
  const facts = factsOf(result);
  const rows = scheduleRowsOf(result);
  if (rows.length === 0) return [];
  const allowed = new Set(Array.isArray(facts["readings"]) ? facts["readings"] : []);
  const names = [...new Set(rows.flatMap(({ expectedMs }) => Object.keys(expectedMs)))].toSorted();
  const marked = (name: string, text: string): string =>
    allowed.has(name) ? palette.bold(text) : palette.dim(text);
  const lines = table(
    [
      ["push", "came after", ...names.map((name) => marked(name, safe(name)))],
      ...rows.map((row) => [
        String(row.push),
        cameText(row),
        ...names.map((name) => marked(name, secondsText(row.expectedMs[name]))),
      ]),
    ],
    [{ align: "right" }, { align: "right" }, ...names.map(() => ({ align: "right" as const }))],
  );
  const counted = facts["anchors"];
  return [
    `${safe(result.id)}, in seconds after the event`,
    ...indent(lines, 2),
    ...(Array.isArray(counted) ? indent([palette.dim(anchorText(counted))], 2) : []),
  ];
};

const cameText = ({ afterMs, beforeMs }: ScheduleRow): string => {
  if (afterMs === undefined || beforeMs === undefined) return "did not come";
  const [from, to] = [secondsText(afterMs), secondsText(beforeMs)];
  return from === to ? to : `${from} to ${to}`;
};

const secondsText = (ms: unknown): string => (typeof ms === "number" ? String(Math.round(ms) / 1_000) : "");

const anchorText = (counted: readonly unknown[]): string =>
  counted.length === 1
    ? `delays count from a push's ${counted[0] === "start" ? "start" : "failure"}`
    : "whether delays count from a push's start or from its failure does not show";
