import type { RunRecord } from "../../conformance/contract/record.ts";
import { commonCauseOf } from "../text/causes.ts";
import { plural } from "../text/figures.ts";
import { fold, indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { breachBlock, type BreachOptions } from "./breaches.ts";
import { brief } from "./brief.ts";
import { heading } from "./heading.ts";
import { leftBehindSection } from "./left-behind.ts";
import { measured } from "./measured.ts";
import { drifts, observed } from "./observed.ts";
import { fitted, narrowed, type Page } from "./palette.ts";
import { ruleLines } from "./rule-lines.ts";
import { section, totals } from "./totals.ts";
import { unjudged } from "./unjudged.ts";
import { waivers } from "./waivers.ts";
import { activeWaivers } from "../text/waivers.ts";

export interface ConformReport extends Page {
  /** The run directory as a user types it. */
  readonly run: string;
  /** How a user calls Touchstone; "touchstone" where left out. */
  readonly program?: string;
  /** Fingerprints that the profile pins, by requirement id, as canonical JSON. */
  readonly pinned?: Readonly<Record<string, string>>;
  /** Prints failures and totals only. */
  readonly quiet?: boolean;
  /** Prints every rule, every observation, and all that was measured. */
  readonly verbose?: boolean;
}

/**
 * The report of a run as text for a terminal, at most 100 columns wide; a pure function of its record. What is broken
 * is always told in full; of the rest a short account, unless more or less is asked for.
 */
export const renderConform = (record: RunRecord, report: ConformReport): string => {
  const options = fitted(report);
  const { quiet = false, verbose = false, pinned = {} } = options;
  const rest = verbose
    ? [...measured(record.rules, options), ...observed(record.rules, options, pinned)]
    : brief(record.rules, options);
  const lines = [
    ...heading(record, options),
    ...(verbose && !quiet ? ruleLines(record.rules, options) : []),
    ...commonCause(record, options),
    ...breachSections(record, options, quiet),
    ...waivers(record, options),
    ...drifts(record.rules, options, pinned),
    ...(quiet ? [] : [...rest, ...unjudged(record, options)]),
    ...(verbose && !quiet ? leftBehindSection(record, options) : []),
    ...totals(record, options, options.run),
  ];
  return `${lines.join("\n")}\n`;
};

/** What to look at first, where the record itself shows that one answer stands behind most of what went wrong. */
const commonCause = ({ rules }: RunRecord, page: Page): string[] => {
  const cause = commonCauseOf(rules);
  if (cause === undefined) return [];
  const breaches = cause.broken.map(safe).join(", ");
  return [
    "",
    page.palette.bold("Look at this first"),
    ...indent(
      [
        ...wrap(
          `${plural(cause.unjudged.length, "rule")} could not be judged because a request that had to succeed did not:`,
          page.columns - 2,
        ),
        ...indent(fold(cause.reason, page.columns - 4, 3).map(page.palette.bold), 2),
        ...wrap(
          `The same answer stands in ${cause.broken.length === 1 ? "the breach" : "the breaches"} of ${breaches}.`,
          page.columns - 2,
        ),
      ],
      2,
    ),
  ];
};

/** Broken promises with their histories; warnings shorter, unless --strict makes failures of them. */
const breachSections = (record: RunRecord, options: ConformReport, quiet: boolean): string[] => {
  const inFull: BreachOptions = {
    ...narrowed(options, 2),
    program: options.program ?? "touchstone",
    histories: true,
  };
  const first = new Set(commonCauseOf(record.rules)?.broken);
  const excused = activeWaivers(record);
  const failures = record.rules
    .filter(({ id, verdict }) => verdict.kind === "failed" && !excused.has(id))
    .toSorted((a, b) => Number(first.has(b.id)) - Number(first.has(a.id)));
  const known = record.rules.filter(({ id, verdict }) => verdict.kind === "failed" && excused.has(id));
  const warnings = record.rules.filter(({ verdict }) => verdict.kind === "warned");
  return [
    ...section(
      `Broken promises (${failures.length})`,
      failures.map((result) => breachBlock(result, inFull)),
      options,
    ),
    ...section(
      `Known breaches, waived for a while (${known.length})`,
      known.map((result) => breachBlock(result, { ...inFull, histories: false })),
      options,
    ),
    ...(quiet && !record.strict
      ? []
      : section(
          `Warnings (${warnings.length}): from public standards, not the document`,
          warnings.map((result) => breachBlock(result, { ...inFull, histories: record.strict })),
          options,
        )),
  ];
};
