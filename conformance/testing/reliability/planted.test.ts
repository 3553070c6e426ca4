import { expect, it } from "vitest";
import { k6ForTests, k6WithinMs } from "../../../scenarios/runner/testing/k6.ts";
import { plantSecrets } from "./planted.ts";

it(
  "writes no secret anywhere, even if the service says back all that it is told",
  async () => {
    const { found, secrets, bytes } = await plantSecrets((await k6ForTests()).path, "few");
    expect(found).toEqual([]);
    // The search found something to look through, and something to look for.
    expect(secrets).toBeGreaterThan(100);
    expect(bytes).toBeGreaterThan(100_000);
  },
  k6WithinMs,
);
