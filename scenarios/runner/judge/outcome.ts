import {
  isUndecided,
  type LoadBreach,
  type LoadRule,
  type ObjectiveResult,
  isOfService,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import type { Outcome } from "../../../conformance/contract/record.ts";
import { hasNoCpuToSpare, type LoadEvidence, type Validity } from "./validity.ts";
import { requestsIn } from "../../../conformance/contract/second-counts.ts";

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

/** When to abort a run: the share of failed requests exceeds a bound for this many consecutive seconds. */
export interface AbortRule {
  readonly errorShare: number;
  readonly seconds: number;
}

export const usualAbortRule: AbortRule = { errorShare: 0.5, seconds: 5 };

const HOOK = "hooks.events.trigger";

/** Whether a run was aborted because of the team's own hook, which says nothing about the service. */
export const isHooksFault = (reason: string): boolean => reason.includes(HOOK);

type Line = Pick<SecondLine, "asked" | "requests">;

const ofService = ({ requests }: Line): Pick<Line, "requests"> => ({
  requests: Object.fromEntries(Object.entries(requests).filter(([endpoint]) => isOfService(endpoint))),
});

/** Receives each second of a run; returns the reason once the run should be aborted. */
export const createAbortWatch = ({ errorShare, seconds }: AbortRule) => {
  let bad: readonly Line[] = [];
  const areBad = (lines: readonly Pick<Line, "requests">[]): boolean => {
    const { failed, all } = requestsIn(lines);
    return failed > errorShare * all;
  };
  return (line: Line): string | undefined => {
    // A second without finished requests says nothing: a hanging service is detected when its requests time out. After
    // the last stage only the slowest requests are left, and there is nothing to abort.
    if (line.asked === 0 || requestsIn([line]).all === 0) return undefined;
    bad = areBad([line]) ? [...bad, line].slice(-seconds) : [];
    if (bad.length < seconds) return undefined;
    const reason = `more than ${errorShare * 100} % of the requests failed in each of ${seconds} consecutive seconds in which any ended`;
    return areBad(bad.map(ofService)) ? reason : `calls of ${HOOK} failed, and so ${reason}`;
  };
};
