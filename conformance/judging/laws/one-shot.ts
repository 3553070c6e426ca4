/** One attempt to take something that can be taken once. Moments are positions in the order of events, not times. */
export interface Attempt {
  /** When it was sent. */
  readonly invokedAt: number;
  /** When its answer arrived; undefined if none did, so that it may still take effect at any time. */
  readonly returnedAt: number | undefined;
  readonly outcome: "granted" | "refused" | "unknown";
}

/** What is wrong with a history of attempts. */
export type Anomaly =
  | "granted-twice"
  /** One was refused although none can have been granted before it returned, and another was granted later. */
  | "refused-too-early"
  /** All were refused, although the first must be granted. */
  | "never-granted";

/**
 * Checks attempts to take something once for linearizability (Herlihy and Wing, 1990): whether each can take effect at
 * a moment between its sending and its answer, so that in the order of those moments the first is granted and every
 * later one refused. An attempt without an answer may have been granted, refused, or never arrived. Returns undefined
 * if the history is linearizable.
 */
export const anomalyOf = (history: readonly Attempt[]): Anomaly | undefined => {
  const granted = history.filter(({ outcome }) => outcome === "granted");
  if (granted.length > 1) return "granted-twice";
  const refused = history.filter(({ outcome }) => outcome === "refused");
  if (refused.length === 0) return undefined;
  // A grant takes effect no earlier than it is sent; a refusal may take effect as late as its answer.
  const winners = granted.length > 0 ? granted : history.filter(({ outcome }) => outcome === "unknown");
  if (winners.length === 0) return "never-granted";
  const earliestGrant = Math.min(...winners.map(({ invokedAt }) => invokedAt));
  return refused.every(({ returnedAt }) => returnedAt === undefined || returnedAt > earliestGrant)
    ? undefined
    : "refused-too-early";
};
