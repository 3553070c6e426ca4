export type CommandClock = typeof commandClock;

export const commandClock = {
  /** The time of day, in milliseconds since 1970. */
  wallMs: (): number => Date.now(),
  /** Monotonic, from an arbitrary origin. */
  nowMs: (): number => performance.now(),
  /** Repeats a task; the returned function stops it. */
  every: (intervalMs: number, task: () => void): (() => void) => {
    const timer = setInterval(task, intervalMs);
    return () => clearInterval(timer);
  },
};
