import { expect, it } from "vitest";
import { k6ForTests, k6WithinMs } from "../../../scenarios/runner/testing/k6.ts";
import { plantSecrets } from "./planted.ts";

it(
  "no secret is written anywhere, even if the service echoes all it gets",
  async () => {
    const { found, secrets, bytes } = await plantSecrets((await k6ForTests()).path);
    expect(found).toEqual([]);
    // There were secrets to look for, and files to search.
    expect(secrets).toBeGreaterThan(100);
    expect(bytes).toBeGreaterThan(100_000);
  },
  k6WithinMs,
);
