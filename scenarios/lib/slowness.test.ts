import { expect, it } from "vitest";
import { createSlowness } from "./slowness.ts";

it("slow answers are named by their mean", () => {
  const slowness = createSlowness();
  for (const durationMs of [1_000, 3_000]) slowness.note({ endpoint: "authorize", durationMs });
  slowness.note({ endpoint: "exchange", durationMs: 2_500 });
  expect(slowness.text()).toBe("authorize 2.00 s, exchange 2.50 s");
});
