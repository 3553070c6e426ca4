/**
 * Replaces the process's clock by one that flows with real time and can be advanced, and returns what advances it by so
 * many milliseconds. No one is notified; the next request sees it. The library calls `new Date()` and takes no clock,
 * so the global is replaced, as faketime does from outside. This is the only place that does so, and the process is the
 * service's own.
 */
export const installClock = (): ((byMs: number) => void) => {
  const RealDate = Date;
  let advancedMs = 0;
  const nowMs = (): number => RealDate.now() + advancedMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, parameters, newTarget): object =>
      Reflect.construct(target, parameters.length === 0 ? [nowMs()] : parameters, newTarget) as object,
    get: (target, name, receiver): unknown => (name === "now" ? nowMs : Reflect.get(target, name, receiver)),
  });
  return (byMs) => {
    advancedMs += byMs;
  };
};
