import {
  isUndecided,
  type LoadBreach,
  type LoadRule,
  type ObjectiveResult,
} from "../../../conformance/contract/load-record.ts";
import type { Outcome } from "../../../conformance/contract/record.ts";
import { hasNoCpuToSpare, type LoadEvidence, type Validity } from "./validity.ts";

export interface Judged {
  readonly rules: readonly LoadRule[];
  readonly objectives: readonly ObjectiveResult[];
  readonly validity: Validity;
  readonly achieved: Pick<LoadEvidence["achieved"], "lag" | "machineIdle">;
}

/**
 * The outcome of a completed load. A broken rule outweighs everything else, and an invalid run is neither fast nor
 * slow.
 */
export const judgedOutcome = ({ rules, objectives, validity, achieved }: Judged): Outcome => {
  if (rules.some(({ breaches }) => breaches > 0)) return "failed";
  if (!validity.valid) return "incomplete";
  const missed = objectives.filter(({ verdict }) => verdict === "breached");
  if (missed.some((objective) => !mayBeOfMachine(objective, achieved))) return "failed";
  if (missed.length > 0) return "incomplete";
  if (objectives.some(({ verdict }) => verdict === "not measured")) return "incomplete";
  if (rules.some(isUndecided)) return "incomplete";
  return rules.some(({ checks }) => checks > 0) ? "passed" : "incomplete";
};

/** How often a request waits for a processor that its iteration waited for once: in the service and what is behind it, too. */
const WAITS = 4;

/**
 * Whether an objective may be missed only because the load generator's machine had no CPU to spare, which a service on it
 * lacked too. A time that is too long even without such waits is the service's.
 */
const mayBeOfMachine = (
  { unit, limit, measured = Infinity }: ObjectiveResult,
  { lag, machineIdle }: Judged["achieved"],
): boolean =>
  hasNoCpuToSpare(machineIdle) &&
  unit !== "share" &&
  (unit === "per second" || measured - WAITS * (lag?.p99Ms ?? Infinity) <= limit);

/** Says which objectives cannot be judged because of the load generator's machine. */
export const busyNotes = ({
  objectives,
  achieved,
}: Pick<Judged, "objectives" | "achieved">): readonly string[] => {
  const open = objectives.filter(
    (objective) => objective.verdict === "breached" && mayBeOfMachine(objective, achieved),
  );
  return open.length === 0
    ? []
    : [
        `${open.map(({ name }) => name).join(", ")} missed, but the load generator's machine had no CPU to spare (${Math.round((achieved.machineIdle ?? 0) * 100)} % of it was idle), so whether the service is too slow cannot be told: run the load generator on a separate machine, end other programs, or lower --rate`,
      ];
};

/** Says which broken rules may be the consequence of another one. */
export const causeNotes = (rules: readonly LoadRule[]): readonly string[] => {
  const isBroken = (id: string): boolean => rules.some((rule) => rule.id === id && rule.breaches > 0);
  return isBroken("authorize.code-is-fresh") && isBroken("code.single-use")
    ? [
        "codes were issued twice (authorize.code-is-fresh), and only one of two clients can exchange such a code, so the breaches of code.single-use may come from that alone",
      ]
    : [];
};

/** The first breaches of each rule, at most this many; breaches.jsonl has all that were kept. */
export const firstsOfEach = (breaches: readonly LoadBreach[], most: number): LoadBreach[] =>
  [...Map.groupBy(breaches, ({ rule }) => rule).values()].flatMap((ofRule) => ofRule.slice(0, most));
