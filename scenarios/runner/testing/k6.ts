import { runnerClock } from "../clock.ts";
import { findK6, type FoundK6 } from "../k6/find.ts";

/** How long the first test that needs k6 may wait for the build. */
export const k6WithinMs = 900_000;

/** The k6 of load runs, for tests; built into the user's cache if there is none. */
export const k6ForTests = (): Promise<FoundK6> =>
  findK6({
    environment: process.env,
    clock: runnerClock,
    onProgress: (line) => process.stderr.write(`${line}\n`),
  });
