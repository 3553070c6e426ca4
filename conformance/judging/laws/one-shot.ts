/** One attempt to take something that can be taken once. Moments are places in the order of events, not times. */
export interface Attempt {
  /** When it was sent. */
  readonly invokedAt: number;
  /** When its answer was there; undefined where none came, so that it may take effect at any later moment. */
  readonly returnedAt: number | undefined;
  readonly outcome: "granted" | "refused" | "unknown";
}

/** What is wrong with a history. */
export type Anomaly =
  | "granted-twice"
  /** One was refused although nothing can have been granted before it returned, and another was granted later. */
  | "refused-too-early"
  /** All were refused, so the first of them was refused. */
  | "never-granted";

/**
 * Whether attempts to take something once are linearizable (Herlihy and Wing, 1990): whether
 * each can be given a moment between its sending and its answer such that, in the order of
 * those moments, the first is granted and every later one refused. An attempt without an
 * answer may have been granted, refused, or never arrived. Returns undefined where they are.
 */
export const anomalyOf = (history: readonly Attempt[]): Anomaly | undefined => {
  const granted = history.filter(({ outcome }) => outcome === "granted");
  if (granted.length > 1) return "granted-twice";
  const refused = history.filter(({ outcome }) => outcome === "refused");
  if (refused.length === 0) return undefined;
  // A grant takes effect at its sending at the earliest; a refusal may wait until its answer for it.
  const winners = granted.length > 0 ? granted : history.filter(({ outcome }) => outcome === "unknown");
  if (winners.length === 0) return "never-granted";
  const earliestGrant = Math.min(...winners.map(({ invokedAt }) => invokedAt));
  return refused.every(({ returnedAt }) => returnedAt === undefined || returnedAt > earliestGrant)
    ? undefined
    : "refused-too-early";
};
