/** How many pushes each notification has had. */
export interface Attempts {
  /** Counts one more and tells its number, from 1. */
  readonly next: (key: string) => number;
  readonly set: (key: string, attempt: number) => void;
  readonly clear: () => void;
}

/** More notifications than this belong to no test; the first ones are forgotten, so that memory stays bounded. */
const MOST_NOTIFICATIONS = 500_000;
/** Longer names are told apart by the hash of their body alone. */
export const LONGEST_NAME = 256;

export const createAttempts = (): Attempts => {
  const counts = new Map<string, number>();
  const set = (key: string, attempt: number): void => {
    if (!counts.has(key) && counts.size >= MOST_NOTIFICATIONS)
      for (const oldest of counts.keys()) {
        counts.delete(oldest);
        break;
      }
    counts.set(key, attempt);
  };
  return {
    next: (key) => {
      const attempt = (counts.get(key) ?? 0) + 1;
      set(key, attempt);
      return attempt;
    },
    set,
    clear: () => counts.clear(),
  };
};

/** What tells one notification from another: its id, or the hash of a body that names none. */
export const keyOf = (notificationId: string | undefined, bodySha256: string): string =>
  notificationId ?? `sha256:${bodySha256}`;
