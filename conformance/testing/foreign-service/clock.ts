/** Time of the whole process, which can be moved on. */
export interface ProcessClock {
  /** Milliseconds since 1970, as every part of the process sees them. */
  readonly nowMs: () => number;
  /** Moves time on by this many milliseconds. No one is notified; the next request sees it. */
  readonly advance: (byMs: number) => void;
}

/**
 * Puts a clock under the process that flows with real time and can be moved on. The library
 * asks `new Date()` and takes no clock, so the global is replaced, as the tool faketime does for
 * programs from outside. This is the only place that does so, and the process is the service's own.
 */
export const installClock = (): ProcessClock => {
  const RealDate = Date;
  let advancedMs = 0;
  const nowMs = (): number => RealDate.now() + advancedMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, parameters, newTarget): object =>
      Reflect.construct(target, parameters.length === 0 ? [nowMs()] : parameters, newTarget) as object,
    get: (target, name, receiver): unknown => (name === "now" ? nowMs : Reflect.get(target, name, receiver)),
  });
  return {
    nowMs,
    advance: (byMs) => {
      advancedMs += byMs;
    },
  };
};
