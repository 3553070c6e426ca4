import { runnerClock } from "../clock.ts";
import { findK6 } from "../k6/find.ts";

/**
 * Where there is no k6 yet, it is built while the tests run that need none; those that need it wait
 * for it. The build is ended with the tests.
 */
export default (): (() => void) => {
  const ending = new AbortController();
  findK6({ environment: process.env, clock: runnerClock, signal: ending.signal }).catch(() => undefined);
  return () => ending.abort();
};
