import type { RunRecord } from "../../conformance/contract/record.ts";
import {
  failsGate,
  waived,
  type AppliedWaiver,
  type WaiverState,
} from "../../conformance/contract/outcome.ts";
import { harmless } from "../../conformance/contract/harmless-text.ts";

export const activeWaivers = ({ waivers }: RunRecord): ReadonlyMap<string, AppliedWaiver> => {
  const covered = waived(waivers);
  return new Map(waivers.filter(({ id }) => covered.has(id)).map((waiver) => [waiver.id, waiver]));
};

/** Waivers that fail the run: expired, or no longer covering anything. */
export const failingWaivers = ({ waivers }: RunRecord): readonly AppliedWaiver[] => waivers.filter(failsGate);

/** "until 2030-02-01 by the payments team: known since the last release". */
export const waiverText = ({ expires, owner, reason }: AppliedWaiver): string =>
  `until ${harmless(expires)} by ${harmless(owner)}: ${harmless(reason)}`;

const stateTexts: Readonly<Record<WaiverState, (waiver: AppliedWaiver) => string>> = {
  active: () => "covers a breach",
  expired: ({ expires }) => `expired after ${harmless(expires)}`,
  stale: () => "stale: the rule no longer fails",
  unused: () => "unused: the rule was not judged",
};

export const waiverStateText = (waiver: AppliedWaiver): string => stateTexts[waiver.state](waiver);
