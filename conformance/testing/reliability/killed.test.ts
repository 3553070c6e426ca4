import { describe, expect, it } from "vitest";
import { k6ForTests, k6WithinMs } from "../../../scenarios/runner/testing/k6.ts";
import { killRuns } from "./killed.ts";

/** A few of the hundred kills of `npm run bench -- reliability`; those of receivers are in fake-server/receiver/killed.test.ts. */

describe("runs that are killed at random instants", () => {
  it.each([
    ["gate", 1],
    ["load", 1],
    ["ledger", 1],
  ] as const)(
    "leave a readable record and nothing else, and the next run works: %s, %i times",
    async (kind, count) => {
      const { path: k6 } = await k6ForTests();
      const { kills, wrong } = await killRuns(kind, count, { seed: 5, k6 });
      expect({ kills, wrong }).toEqual({ kills: count, wrong: [] });
    },
    k6WithinMs,
  );
});
