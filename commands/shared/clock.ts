export interface CommandClock {
  /** The time of day, in milliseconds since 1970. */
  readonly wallMs: () => number;
  /** Monotonic, from an arbitrary origin. */
  readonly nowMs: () => number;
  /** Does something again and again; the returned function ends it. */
  readonly every: (intervalMs: number, task: () => void) => () => void;
}

export const commandClock: CommandClock = {
  wallMs: () => Date.now(),
  nowMs: () => performance.now(),
  every: (intervalMs, task) => {
    const timer = setInterval(task, intervalMs);
    return () => clearInterval(timer);
  },
};
