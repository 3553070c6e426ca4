import type { Campaign } from "./data.ts";
import { undecidedFinding, type Finding } from "./finding.ts";

const SEVERAL = /^(\d+) more within a second/;

/**
 * How many connections came to the receiver and were over before it could read a push. Where sender or receiver are
 * too busy, a push may be given up in the middle of the handshake: its sender has counted it, and nobody has seen it.
 */
export const lostConnections = ({ faults, disturbances }: Campaign): number =>
  faults
    .filter(({ n }) => !disturbances.some(({ after, last }) => n > after && n <= last))
    .reduce((sum, { message }) => sum + Number(SEVERAL.exec(message)?.[1] ?? 1), 0);

/** What is missing is no breach where as many connections as it would take broke before a push could be read. */
export const unlessLost = (finding: Finding, campaign: Campaign): Finding => {
  // What breaks while a clock is moved by hand is a matter of milliseconds, and of the untrusted certificate.
  if (campaign.clock === "virtual" || finding.judgement.kind !== "broke") return finding;
  const lost = lostConnections(campaign);
  if (lost < (finding.broken ?? 1)) return finding;
  return {
    ...undecidedFinding(
      `${finding.judgement.actual}; but ${lost} connections broke before the receiver could read a push, which may have been what is missing`,
      UNDISTURBED,
    ),
    ...(finding.facts === undefined ? {} : { facts: finding.facts }),
  };
};

export const UNDISTURBED =
  "a run in which neither the sender nor the receiver is too busy to finish a handshake, and nobody else connects to the receiver";
