import {
  type LoadRecord,
  isUndecided,
  type LoadBreach,
  type LoadRule,
  type ObjectiveResult,
  isOfService,
  type SecondLine,
} from "../../../conformance/contract/load-record.ts";
import type { OwnLimit } from "../../../conformance/contract/load-failures.ts";
import type { Outcome } from "../../../conformance/contract/record.ts";
import { counted } from "../../../conformance/contract/text.ts";
import { requestsIn } from "../../../conformance/contract/second-counts.ts";

type Achieved = NonNullable<LoadRecord["achieved"]>;
export type Validity = NonNullable<LoadRecord["validity"]>;
type Reason = Validity["reasons"][number];

/** If 1 % of iterations start later than this, latencies reflect the load generator. */
const MOST_LAG_MS = 250;
const LEAST_ACHIEVED = 0.95;

/**
 * How many iterations k6 starts at least, if it keeps up: a ramp starts one when a whole one is due, and may end just
 * before one that is due at its very end. Sums of rates are not exact.
 */
const leastStarted = (asked: number): number => Math.ceil(asked - ROUNDING) - 1;
const ROUNDING = 1e-6;

export interface LoadEvidence {
  readonly achieved: Achieved;
  readonly whole: boolean;
  readonly virtualUsers: {
    /** Virtual users present from the start, minus those thinking at any moment. */
    readonly ready: number;
    readonly most: number;
  };
  readonly cores: number;
}

/**
 * Whether the run says anything about the service's speed. A run that did not generate the requested load is invalid:
 * neither slow nor fast. Its breaches of rules remain breaches.
 */
export const judgeValidity = (evidence: LoadEvidence): Validity => {
  const reasons = reasonsIn(evidence);
  return { valid: reasons.length === 0, reasons };
};

const reasonsIn = (evidence: LoadEvidence): Reason[] => {
  const { achieved, whole } = evidence;
  const { dropped, arrivals, arrivalsAsked, lag, unsent } = achieved;
  if (unsent !== undefined) return Object.entries(unsent).map(exhausted);
  if (arrivals === 0)
    return [{ cause: "load generator", reason: "no iterations were started", remedy: "see k6.log" }];
  const isLate = lag !== undefined && lag.p99Ms > MOST_LAG_MS;
  if (dropped > 0) return [starvation(evidence) ?? whyDropped(evidence)];
  return [
    ...(whole && arrivals < LEAST_ACHIEVED * arrivalsAsked && arrivals < leastStarted(arrivalsAsked)
      ? [ownFault(evidence, `${arrivals} of ${Math.round(arrivalsAsked)} iterations were started`)]
      : []),
    ...(isLate ? [ownFault(evidence, lateText(lag.p99Ms), achieved)] : []),
  ];
};

export const limitRemedies: Readonly<Record<OwnLimit, string>> = {
  "open files":
    "allow the load generator more of them (`ulimit -n`), lower --rate, or play it on several machines (--segment)",
  "local ports":
    "let the service keep connections open between requests (keep-alive), widen net.ipv4.ip_local_port_range, or play the load on several machines (--segment)",
  "socket buffers": "give the load generator's machine more memory for sockets, or lower --rate",
};

/** A limit of the load generator's machine says nothing about the service, whatever else was measured. */
const exhausted = ([limit, count]: readonly [string, number]): Reason => ({
  cause: "load generator",
  reason: `the load generator ran out of ${limit}, and could not send ${counted(count, "request")}`,
  remedy: limitRemedies[limit as OwnLimit],
});

const lateText = (p99Ms: number): string =>
  `one iteration in a hundred started at least ${Math.round(p99Ms)} ms late`;

const LEAST_IDLE = 0.05;

/** Whether everything on a machine waits its turn; false if its idle share is unknown. */
export const hasNoCpuToSpare = (machineIdle = 1): boolean => machineIdle < LEAST_IDLE;

const MOST_OF_CORES = 0.9;

/**
 * Iterations dropped for lack of CPU on the load generator's machine. Its response times then say nothing: a request
 * waiting for k6 looks like one waiting for the service. Judged by the seconds that fell short: the machine's idle
 * time, k6's CPU use, and how late k6 started the iterations it did start. Other seconds cannot explain a drop.
 */
const starvation = (evidence: LoadEvidence): Reason | undefined => {
  const { cores, achieved } = evidence;
  const { machineIdle, k6Cores = 0, lateMs = 0 } = achieved.shortfall ?? {};
  const signs = [
    ...(hasNoCpuToSpare(machineIdle) ? ["the machine had no CPU to spare"] : []),
    ...(k6Cores > MOST_OF_CORES * cores ? ["k6 itself used all processors"] : []),
    ...(lateMs > MOST_LAG_MS ? [`meanwhile ${lateText(lateMs)}`] : []),
  ];
  if (signs.length === 0) return undefined;
  return ownFault(evidence, `${droppedText(achieved.dropped)}: ${signs.join(", and ")}`);
};

const droppedText = (dropped: number): string =>
  dropped === 1 ? "1 iteration was dropped" : `${dropped} iterations were dropped`;

/**
 * A reason on the side of the load generator or its machine, with measurements of both: from the seconds that fell
 * short, if there are any.
 */
const ownFault = (
  evidence: LoadEvidence,
  what: string,
  meanwhile: NonNullable<Achieved["shortfall"]> | Achieved = evidence.achieved.shortfall ?? evidence.achieved,
): Reason => {
  const { achieved, cores } = evidence;
  const { k6Cores = achieved.k6Cores, machineIdle = achieved.machineIdle } = meanwhile;
  const { collectorLagMs = 0 } = "collectorLagMs" in meanwhile ? meanwhile : {};
  const measured = [
    k6Cores !== undefined &&
      `k6 used ${k6Cores < 0.1 ? "less than 0.1" : k6Cores.toFixed(1)} of ${cores} cores`,
    machineIdle !== undefined && `${Math.round(machineIdle * 100)} % of the machine was idle`,
    collectorLagMs >= 1 && `timers were up to ${Math.round(collectorLagMs)} ms late`,
  ].filter((one) => one !== false);
  return {
    cause: "load generator",
    reason: measured.length === 0 ? what : `${what} (${measured.join(", ")})`,
    remedy:
      "the load generator cannot keep up: lower --rate, end what else keeps its machine busy, or run it on a separate one",
  };
};

/** If waiting used up the ready virtual users, at least this share of them was waiting. */
const MOST_WAITING = 0.8;

/** Whether waiting for answers used up the virtual users that were ready. */
const isAllAtWork = ({ achieved: { mostUnderWay = 0 }, virtualUsers: { ready } }: LoadEvidence): boolean =>
  mostUnderWay >= MOST_WAITING * ready;

/**
 * k6 drops an arrival if it has no idle virtual user. On a machine with CPU to spare, slow answers or slow connections
 * use them up; otherwise k6 itself is too busy.
 */
const whyDropped = (evidence: LoadEvidence): Reason => {
  const {
    achieved: { dropped, mostUnderWay = 0, mostConnecting = 0 },
    virtualUsers: { ready, most },
  } = evidence;
  const waiting = Math.round(mostUnderWay);
  if (isAllAtWork(evidence))
    return {
      cause: "service",
      reason: `${droppedText(dropped)}: about ${waiting} requests were waiting for answers at a time, with ${ready} virtual users ready and at most ${most}`,
      remedy: "the service is too slow for this rate with so few virtual users: raise --vus, or lower --rate",
    };
  if (mostUnderWay + mostConnecting >= MOST_WAITING * ready)
    return {
      cause: "network",
      reason: `${droppedText(dropped)}: about ${Math.round(mostConnecting)} requests were waiting for a connection at a time, and ${waiting} for answers, with ${ready} virtual users ready and at most ${most}`,
      remedy:
        "connecting takes too long for this rate: check what is in between (a proxy, TLS, a limit on new connections), or lower --rate",
    };
  return ownFault(
    evidence,
    `${droppedText(dropped)} although only about ${waiting} requests were waiting for answers at a time, with ${ready} virtual users ready`,
  );
};

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
interface AbortRule {
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
