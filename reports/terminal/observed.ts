import { drifted } from "../../conformance/contract/outcome.ts";
import type { RuleResult } from "../../conformance/contract/record.ts";
import { compactFields } from "../text/compact.ts";
import { fold, indent, padEnd, widest, width } from "../text/layout.ts";
import { leavesOf, parseFingerprint } from "../text/leaves.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { definitions, grouped } from "./table.ts";
import { section } from "./totals.ts";

const LINES = 12;
const MARGIN = 2;

type Pins = Readonly<Record<string, string>>;

/** What the service does where the document leaves it open; what is not as it was pinned stands out. */
export const observed = (results: readonly RuleResult[], page: Page, pinned: Pins): string[] => {
  const changed = new Set<string>(drifted(results, pinned));
  const seen = results.flatMap(({ id, verdict }) =>
    verdict.kind === "observed" ? [{ id: safe(id), now: verdict.fingerprint, changed: changed.has(id) }] : [],
  );
  if (seen.length === 0) return [];
  const idWidth = widest(seen.map(({ id }) => id));
  const lines = seen.flatMap((one) => observation(one, idWidth, page));
  return ["", page.palette.bold("Observed where the document leaves it open"), ...indent(lines, MARGIN)];
};

const observation = (
  { id, now, changed }: { readonly id: string; readonly now: string; readonly changed: boolean },
  idWidth: number,
  { palette, columns }: Page,
): string[] => {
  const name = (changed ? palette.red : (text: string) => text)(id);
  const whole = compactFields(parseFingerprint(now));
  const fits = MARGIN + idWidth + 2 + width(whole) <= columns;
  return fits
    ? [`${padEnd(name, idWidth)}  ${palette.dim(whole)}`]
    : [name, ...indent(readable(now, columns - MARGIN - 2).map(palette.dim), 2)];
};

/** Observations that are not as the profile pins them, each beside its pin. */
export const drifts = (results: readonly RuleResult[], page: Page, pinned: Pins): string[] => {
  const changed = new Set<string>(drifted(results, pinned));
  const blocks = results.flatMap(({ id, verdict }) =>
    verdict.kind === "observed" && changed.has(id)
      ? [driftBlock(safe(id), verdict.fingerprint, pinned[id] ?? "", page)]
      : [],
  );
  return section(`Changed since they were pinned (${blocks.length})`, blocks, page);
};

const LABEL = 6;

const driftBlock = (id: string, now: string, was: string, { palette, columns }: Page): string[] => {
  const beside = (fingerprint: string): string[] => readable(fingerprint, columns - LABEL - 6);
  return [
    `${palette.red("≠")} ${palette.bold(id)}`,
    ...indent(
      definitions(
        [
          [palette.dim("pinned"), beside(was)],
          [palette.dim("seen"), beside(now).map(palette.bold)],
        ],
        LABEL,
      ),
      2,
    ),
  ];
};

/** A fingerprint in few lines: what is the same for several of its fields is said once, with their names. */
const readable = (fingerprint: string, columns: number): string[] => {
  const value = parseFingerprint(fingerprint);
  const whole = compactFields(value);
  if (width(whole) <= columns || typeof value !== "object" || value === null || Array.isArray(value))
    return fold(whole, columns, LINES);
  const lines = grouped(leavesOf(value), columns);
  return lines.length <= LINES
    ? lines
    : [...lines.slice(0, LINES - 1), `… ${lines.length - LINES + 1} more lines in run.json`];
};
