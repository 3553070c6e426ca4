import type { RuleResult } from "../../conformance/contract/record.ts";
import { compact, compactFields } from "../text/compact.ts";
import { fold, indent, widest, width } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import type { Page } from "./palette.ts";
import { definitions } from "./table.ts";

const LINES = 3;

/** What the service does where the document leaves it open; a pinned fingerprint that changed stands beside the one seen. */
export const observed = (
  results: readonly RuleResult[],
  page: Page,
  pinned: Readonly<Record<string, string>>,
): string[] => {
  const { palette } = page;
  const seen = results.flatMap(({ id, verdict }) =>
    verdict.kind === "observed"
      ? [{ id: safe(id), now: verdict.fingerprint, was: ownValue(pinned, id) }]
      : [],
  );
  if (seen.length === 0) return [];
  const columns = page.columns - widest(seen.map(({ id }) => id)) - 4;
  const entries = seen.map(({ id, now, was }): readonly [string, string[]] => {
    const drifted = was !== undefined && was !== now;
    return [
      drifted ? palette.red(id) : id,
      [
        ...readable(now, columns).map(palette.dim),
        ...(drifted ? ["it is pinned to", ...readable(was, columns)].map(palette.red) : []),
      ],
    ];
  });
  return ["", palette.bold("Observed where the document leaves it open"), ...indent(definitions(entries), 2)];
};

const ownValue = (values: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;

/** A fingerprint on one line where it fits, otherwise a line or two for each of its fields. */
const readable = (fingerprint: string, columns: number): string[] => {
  const value = parse(fingerprint);
  const whole = compactFields(value);
  if (width(whole) <= columns || typeof value !== "object" || value === null || Array.isArray(value))
    return fold(whole, columns, LINES);
  return Object.entries(value).flatMap(([name, inner]) => {
    const [first = "", ...rest] = fold(`${compact(name)}: ${compact(inner)}`, columns - 2, LINES);
    return [first, ...indent(rest, 2)];
  });
};

const parse = (fingerprint: string): unknown => {
  try {
    return JSON.parse(fingerprint);
  } catch {
    return fingerprint;
  }
};
