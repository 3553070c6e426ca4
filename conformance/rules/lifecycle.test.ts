import { expect, test } from "vitest";
import { judge } from "../testing/judge.ts";
import { behaving, ruleFor } from "../testing/seeded.ts";

const rule = ruleFor("lifecycle.model");

test("histories reach every state of the sound service", async () => {
  const verdict = await judge(rule);
  if (verdict.kind !== "passed") throw new Error(JSON.stringify(verdict));
  expect(Object.keys(verdict.facts?.["decisionsByState"] as object).toSorted()).toEqual([
    "access token dead",
    "access token live",
    "code expired",
    "code issued",
    "code used",
    "refresh token invalid",
    "refresh token valid",
  ]);
});

test("lifecycle.model could not run without a clock hook, and names the states that it could not reach", async () => {
  const verdict = await judge(rule, { profile: (profile) => ({ ...profile, hooks: {} }) });
  expect(verdict).toMatchObject({
    kind: "could-not-run",
    missing: "clock.advance",
    reason: expect.stringContaining("refresh token invalid"),
  });
});

test("whatever character a secret ends in, the wrong one differs from it", async () => {
  expect((await judge(rule, { client: { secret: "s3CrXp7WqLz9TnBvK2mYhD5gRjEa8Uf~" } })).kind).toBe("passed");
});

test("a notification's id may be listed in another case than the hook tells it in", async () => {
  const behaviour = behaving((sound) => ({
    item: (...subject) => ({ ...(sound.item(...subject) as object), id: subject[0].id.toUpperCase() }),
  }));
  expect((await judge(rule, { behaviour })).kind).toBe("passed");
});
