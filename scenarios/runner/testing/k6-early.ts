import { runnerClock } from "../clock.ts";
import { findK6 } from "../k6/find.ts";

/** If there is no k6 yet, builds it while tests run that do not need it; others wait. The build ends with the tests. */
export default (): (() => void) => {
  const ending = new AbortController();
  findK6({ environment: process.env, clock: runnerClock, signal: ending.signal }).catch(() => undefined);
  return () => ending.abort();
};
