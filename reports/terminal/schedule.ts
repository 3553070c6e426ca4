import type { RuleResult } from "../../conformance/contract/record.ts";
import { indent } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { table } from "./table.ts";

interface Row {
  readonly push: number;
  /** Between which two moments it came, in milliseconds after its event; absent where it did not come. */
  readonly afterMs?: number;
  readonly beforeMs?: number;
  /** When each reading has it, by the reading's name. */
  readonly expectedMs: Readonly<Record<string, unknown>>;
}

const isRow = (value: unknown): value is Row =>
  typeof value === "object" &&
  value !== null &&
  "push" in value &&
  typeof value.push === "number" &&
  "expectedMs" in value &&
  typeof value.expectedMs === "object" &&
  value.expectedMs !== null;

/** The schedule of pushes as it was measured beside what each reading expects; a reading that the evidence allows stands out. */
export const schedule = (result: RuleResult, { palette }: Page): string[] => {
  const facts = "facts" in result.verdict ? result.verdict.facts : undefined;
  const rows = facts?.["schedule"];
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every(isRow)) return [];
  const allowed = new Set(Array.isArray(facts?.["readings"]) ? facts["readings"] : []);
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
  const counted = facts?.["anchors"];
  return [
    `${safe(result.id)}, in seconds after the event`,
    ...indent(lines, 2),
    ...(Array.isArray(counted) ? indent([palette.dim(anchorText(counted))], 2) : []),
  ];
};

const cameText = ({ afterMs, beforeMs }: Row): string => {
  if (afterMs === undefined || beforeMs === undefined) return "did not come";
  const [from, to] = [secondsText(afterMs), secondsText(beforeMs)];
  return from === to ? to : `${from} to ${to}`;
};

const secondsText = (ms: unknown): string => (typeof ms === "number" ? String(Math.round(ms) / 1_000) : "");

const anchorText = (counted: readonly unknown[]): string =>
  counted.length === 1
    ? `delays count from a push's ${counted[0] === "start" ? "start" : "failure"}`
    : "whether delays count from a push's start or from its failure does not show";
