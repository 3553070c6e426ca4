import { expect, it } from "vitest";
import { k6ForTests, k6WithinMs } from "../../../scenarios/runner/testing/k6.ts";
import { gateSubject, killRuns } from "./killed.ts";

/** Hundreds of kills, also of loads and ledgers, are `npm run bench -- reliability`; those of receivers are in fake-server/receiver/killed.test.ts. */

it(
  "a gate that is killed at a random instant leaves a readable record and nothing else, and the next run works",
  async () => {
    const { path: k6 } = await k6ForTests();
    const { kills, wrong } = await killRuns("gate", gateSubject, 1, { seed: 5, k6 });
    expect({ kills, wrong }).toEqual({ kills: 1, wrong: [] });
  },
  k6WithinMs,
);
