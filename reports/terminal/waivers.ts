import type { RunRecord } from "../../conformance/contract/record.ts";
import type { AppliedWaiver, WaiverState } from "../../conformance/contract/waivers.ts";
import { indent, wrap } from "../text/layout.ts";
import { safe } from "../text/safe.ts";
import { waiverStateText, waiverText } from "../text/waivers.ts";
import type { Page } from "./palette.ts";
import { section } from "./totals.ts";

/** The profile's waivers, each with what it came to and what is to be done about it. */
export const waivers = ({ waivers: all = [] }: RunRecord, page: Page): string[] =>
  section(
    `Waivers (${all.length})`,
    all.map((waiver) => block(waiver, { ...page, columns: page.columns - 2 })),
    page,
  );

/** What to do about a waiver that fails the gate. */
const remedies: Readonly<Partial<Record<WaiverState, string>>> = {
  expired: "mend the breach and remove the waiver, or agree on a new date with its owner",
  stale: "remove the waiver from the profile, so that a later breach is seen",
};

const block = (waiver: AppliedWaiver, { palette, columns }: Page): string[] => {
  const remedy = remedies[waiver.state];
  const paint = remedy === undefined ? palette.dim : palette.red;
  return [
    `${paint(remedy === undefined ? "~" : "✗")} ${palette.bold(safe(waiver.id))}  ${paint(waiverStateText(waiver))}`,
    ...indent(wrap(waiverText(waiver), columns - 2), 2),
    ...(remedy === undefined ? [] : indent(wrap(`→ ${remedy}`, columns - 2).map(palette.bold), 2)),
  ];
};
