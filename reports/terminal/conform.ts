import type { RunRecord } from "../../conformance/contract/record.ts";
import { breachBlock, type BreachOptions } from "./breaches.ts";
import { heading } from "./heading.ts";
import { measured } from "./measured.ts";
import { observed } from "./observed.ts";
import { fitted, narrowed, type Page } from "./palette.ts";
import { ruleLines } from "./rule-lines.ts";
import { section, totals } from "./totals.ts";
import { unjudged } from "./unjudged.ts";

export interface ConformReport extends Page {
  /** The run directory as a user types it. */
  readonly run: string;
  /** How a user calls Touchstone; "touchstone" where left out. */
  readonly program?: string;
  /** Fingerprints that the profile pins, by requirement id, as canonical JSON. */
  readonly pinned?: Readonly<Record<string, string>>;
  /** Prints failures and totals only. */
  readonly quiet?: boolean;
}

/** The report of a run as text for a terminal, at most 100 columns wide; a pure function of its record. */
export const renderConform = (record: RunRecord, report: ConformReport): string => {
  const options = fitted(report);
  const quiet = options.quiet === true;
  const details = quiet
    ? []
    : [
        ...measured(record.rules, options),
        ...observed(record.rules, options, options.pinned ?? {}),
        ...unjudged(record, options),
      ];
  const lines = [
    ...heading(record, options),
    ...(quiet ? [] : ruleLines(record.rules, options)),
    ...breachSections(record, options, quiet),
    ...details,
    ...totals(record, options, options.run),
  ];
  return `${lines.join("\n")}\n`;
};

/** Broken promises with their histories; warnings shorter, unless --strict makes failures of them. */
const breachSections = (record: RunRecord, options: ConformReport, quiet: boolean): string[] => {
  const inFull: BreachOptions = {
    ...narrowed(options, 2),
    program: options.program ?? "touchstone",
    histories: true,
  };
  const failures = record.rules.filter(({ verdict }) => verdict.kind === "failed");
  const warnings = record.rules.filter(({ verdict }) => verdict.kind === "warned");
  return [
    ...section(
      `Broken promises (${failures.length})`,
      failures.map((result) => breachBlock(result, inFull)),
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
