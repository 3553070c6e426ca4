import { exitCodeMeanings, type RunRecord } from "../../conformance/contract/record.ts";
import { casesOf } from "../../conformance/contract/verdict.ts";
import { elapsed, plural } from "../text/figures.ts";
import { flow, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { activeWaivers, failingWaivers } from "../text/waivers.ts";
import { leftBehind } from "./left-behind.ts";
import type { Page } from "./palette.ts";
import { definitions } from "./table.ts";
import { verdictOrder, wordOf } from "../text/verdicts.ts";
import { inColourOf } from "./verdicts.ts";

/** The last lines: how many of each verdict, where the record is, and what the exit code means. */
export const totals = (record: RunRecord, page: Page, run: string): string[] => {
  const { palette } = page;
  const excused = activeWaivers(record);
  const counts = verdictOrder.flatMap((kind) => {
    const count = record.rules.filter(({ verdict }) => verdict.kind === kind).length;
    const waived = record.rules.filter(({ id, verdict }) => verdict.kind === kind && excused.has(id)).length;
    const text = `${count} ${wordOf(kind)}${waived === 0 ? "" : ` (${waived} waived)`}`;
    return count === 0 ? [] : [inColourOf(kind, palette, text)];
  });
  const cases = record.rules.reduce((sum, { verdict }) => sum + casesOf(verdict), 0);
  const took =
    record.endedAt === undefined
      ? ""
      : ` in ${elapsed(Date.parse(record.endedAt) - Date.parse(record.startedAt))}`;
  return [
    "",
    ...definitions(
      [
        [
          "Rules",
          counts.length === 0 ? ["none was judged"] : flow(counts, palette.dim(" · "), page.columns - 9),
        ],
        ["Cases", [`${plural(cases, "case")}${took}`]],
        ["Record", [safe(run)]],
        ...leftBehind(record, page),
        ["Outcome", outcomeLines(record, page)],
      ].map(([label, lines]) => [palette.bold(String(label)), lines as readonly string[]] as const),
    ),
  ];
};

const outcomeLines = (record: RunRecord, page: Page): string[] => {
  const { outcome, exitCode } = record;
  if (outcome === undefined || exitCode === undefined)
    return [page.palette.yellow("the run was cut off; this is what had been judged by then")];
  const meaning = outcome === "failed" ? whyFailed(record, exitCode) : (exitCodeMeanings[exitCode] ?? "");
  const paint = { passed: page.palette.green, failed: page.palette.red, "harness-error": page.palette.red };
  const word = outcome.replace("-", " ");
  const said = `${meaning.startsWith(word) ? meaning : `${word}: ${meaning}`}${flakiness(record)} (exit code ${exitCode})`;
  const lines = wrap(said, page.columns - 9);
  return lines.map((line) =>
    outcome in paint ? paint[outcome as keyof typeof paint](line) : page.palette.yellow(line),
  );
};

/** What failed the gate: a breach before all else, then a warning under --strict, then a waiver that is out of date. */
const whyFailed = (record: RunRecord, exitCode: number): string => {
  const excused = activeWaivers(record);
  const counts = (kind: "failed" | "warned"): boolean =>
    record.rules.some(({ id, verdict }) => verdict.kind === kind && !excused.has(id));
  if (counts("failed")) return exitCodeMeanings[exitCode] ?? "";
  if (record.strict && counts("warned"))
    return "an advisory rule warned, and --strict counts that as a failure";
  return failingWaivers(record).length > 0
    ? "a waiver has expired or covers nothing any more"
    : (exitCodeMeanings[exitCode] ?? "");
};

/** How many of the breaches did not come back each time they were tried again. */
const flakiness = ({ rules }: RunRecord): string => {
  const breaches = rules.flatMap(({ verdict }) => (verdict.kind === "failed" ? [verdict.breach] : []));
  const flaky = breaches.filter(
    ({ reproduction: { replayed } }) => replayed.failures < replayed.attempts,
  ).length;
  return flaky === 0 ? "" : `; ${flaky} of ${plural(breaches.length, "breach", "breaches")} flaky`;
};

/** Lines under a title, moved in; nothing where there are none. */
export const section = (title: string, blocks: readonly (readonly string[])[], page: Page): string[] =>
  blocks.length === 0
    ? []
    : ["", page.palette.bold(title), ...blocks.flatMap((block) => ["", ...indent(block, 2)])];
