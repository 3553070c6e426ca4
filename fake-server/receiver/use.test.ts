import { expect, it } from "vitest";
import { createUse } from "./use.ts";

const setUp = () => {
  const clock = { ms: 0 };
  return { clock, use: createUse({ nowMs: () => clock.ms }) };
};

it("one run at a time uses a receiver", () => {
  const { clock, use } = setUp();
  expect(use.refusal("a")).toBeUndefined();
  clock.ms = 29_000;
  expect(use.refusal("b")).toBe("another run uses it, which last called 29 s ago");
  expect(use.refusal("a")).toBeUndefined();
  clock.ms = 31_000;
  expect(use.refusal("b")).toContain("2 s ago");
  use.end();
  expect(use.refusal("b")).toBeUndefined();
});

it("a run that fell silent is replaced, and told so when it calls again", () => {
  const { clock, use } = setUp();
  use.refusal("a");
  clock.ms = 30_000;
  expect(use.refusal("b")).toBeUndefined();
  expect(use.refusal("a")).toBe("another run began to use it");
  use.end();
  expect(use.refusal("a")).toBe("another run began to use it");
});
