import { counted } from "../../contract/text.ts";
import type { TimeInterval } from "../interval.ts";
import type { LostStage } from "../../contract/push.ts";
import type { Doubt } from "./cases.ts";
import { outlastsLag } from "./lag.ts";
import type { LostConnection, PushRun, PushTrace, ReceiverOutage } from "./trace.ts";

/** A time in which a push may have been sent that no receiver saw: an outage, or the moment of a connection that broke. */
export interface Blind extends TimeInterval {
  readonly kind: "outage" | "lost";
  /** Numbers of the journal's lines between which an outage was. */
  readonly lines?: readonly [from: number, until: number];
}

type Trace = PushTrace & Partial<Omit<PushRun, keyof PushTrace>>;

export const blindOf = (trace: Trace): readonly Blind[] => [
  ...(trace.outages ?? []).flatMap((outage) => outageAsBlind(outage, trace)),
  ...lostPushes(trace).map(({ at }): Blind => ({ kind: "lost", ...at })),
];

/** A sender that is slow in real time may have met an outage, or not, and so an outage that it may outlast is not one. */
const outageAsBlind = (outage: ReceiverOutage, trace: Trace): readonly Blind[] => {
  const { sinceMs, overMs, from, until } = outage;
  return sinceMs === undefined || overMs === undefined || !outlastsLag(outage, trace)
    ? []
    : [{ kind: "outage", earliestMs: sinceMs, latestMs: overMs, lines: [from.last, until.last] }];
};

/**
 * These cannot have carried a push: the sender sent no request on them. Senders open connections that they never use, also
 * over TLS: they dial another one while they wait for a free connection.
 */
const unused: ReadonlySet<LostStage> = new Set<LostStage>(["silent", "not-tls", "no-request"]);

/** Lost connections, except those during outages, when the receiver was closed or showed an untrusted certificate. */
export const lostConnections = ({
  lost = [],
  outages = [],
}: Pick<Trace, "lost" | "outages">): readonly LostConnection[] =>
  lost.filter(
    ({ n, openedMs }) =>
      !outages.some(
        ({ from, until }) =>
          (n > from.last && n <= until.last) ||
          (openedMs !== undefined && openedMs >= from.nowMs && openedMs <= until.nowMs),
      ),
  );

/** Connections that may have carried a push. */
const lostPushes = (trace: Trace): readonly LostConnection[] =>
  lostConnections(trace).filter(({ stage }) => !unused.has(stage));

/** Connections without a push, counted by stage, for reports. */
export const lostFacts = (
  trace: Trace,
): { readonly connectionsWithoutPush?: Readonly<Record<string, number>> } => {
  const byStage = Map.groupBy(lostConnections(trace), ({ stage }) => stage);
  if (byStage.size === 0) return {};
  const counts = [...byStage].map(([stage, group]) => [stage, group.length] as const);
  return { connectionsWithoutPush: Object.fromEntries(counts.toSorted(([a], [b]) => (a < b ? -1 : 1))) };
};

/** What is open because a push may have been on a connection that broke: `which` says what it would be. */
export const lostOn = (trace: Trace, which: string): Doubt => ({
  why: `${counted(lostPushes(trace).length, "connection")} broke before the receiver could read a push, perhaps ${which}`,
  settle: UNDISTURBED,
});

export const UNDISTURBED =
  "a receiver on a less busy machine, to which only the sender connects, so that no connection breaks";
