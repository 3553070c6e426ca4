import { describe, expect, it } from "vitest";
import { fail } from "../judging/case-verdict.ts";
import type { Rule } from "../checks/rule.ts";
import { obtainTokens } from "../world/steps.ts";
import { judge, rule, verdictOf } from "./testing/judge-own.ts";

describe("evidence", () => {
  it("is what a verdict names and what issued its credentials, with the number of exchanges left out", async () => {
    const naming = rule("exchange.access-token-works", async (world) => {
      await obtainTokens(world);
      const { accessToken } = await obtainTokens(world);
      await world.target.list({ query: { limit: 1 } });
      const { exchange } = await world.target.list({ accessToken });
      return fail("right", "wrong", [exchange]);
    });
    const [result] = await judge([naming]);
    const numbers = result?.exchanges.map(({ n }) => n) ?? [];
    expect(result?.verdict).toMatchObject({ breach: { evidence: numbers, leftOut: 3 } });
    expect(result?.exchanges.map(({ request }) => request.path.replace(/\?.*/, ""))).toEqual([
      "/open-api/oauth/authorize",
      "/open-api/oauth/access-token",
      "/open-api/v1/notifications",
    ]);
  });

  it("contains no credential in sentences, facts and exchanges", async () => {
    const seen: string[] = [];
    const quoting: Rule = {
      requirement: "code.unknown",
      check: (_, run) =>
        run.once(
          async (world) => {
            const { accessToken, code, refreshToken } = await obtainTokens(world);
            seen.push(accessToken, code, refreshToken, world.client.secret);
            return {
              ...fail(`not ${code}`, `token=${accessToken}&${refreshToken}.`),
              facts: { secret: world.client.secret, nested: [{ code }] },
            };
          },
          { replays: 0 },
        ),
    };
    const text = JSON.stringify(await judge([quoting]));
    expect(seen).toHaveLength(4);
    for (const secret of seen) expect(text.includes(secret)).toBe(false);
    expect(text).toContain("‹access token 1›");
  });

  it("keeps its structure if a secret equals a word or a number of the harness's own", async () => {
    const naming: Rule = {
      requirement: "code.unknown",
      check: (world, run) => {
        for (const word of ["failed", "breach", "1234", "cases", "code.unknown", "true"])
          world.secrets.conceal(word, "client secret");
        return run.once(() =>
          Promise.resolve({ ...fail("it failed", "wrong"), cases: 1_234, facts: { on: true } }),
        );
      },
    };
    expect(await verdictOf(naming)).toMatchObject({
      kind: "failed",
      cases: 1_234,
      facts: { on: true },
      breach: { expected: "it ‹client secret 3›" },
    });
  });
});
