import { describe, expect, it } from "vitest";
import { stagesOf } from "../../stages.ts";
import { createBreaches, maskOf } from "./breaches.ts";

const message = (extra: object = {}) => ({
  kind: "breach" as const,
  rule: "code.single-use" as const,
  atEpochMs: 0,
  expected: "a refusal",
  actual: "tokens",
  exchanges: [],
  secrets: [],
  ...extra,
});

describe("breaches", () => {
  it("keep evidence of the first twenty of each rule, and count all", () => {
    const breaches = createBreaches(stagesOf("ramp", 100, 10_000), []);
    for (let at = 0; at < 50; at += 1) {
      breaches.count("code.single-use");
      const kept = breaches.proof(message(), at * 100);
      expect(kept === undefined).toBe(at >= 20);
    }
    breaches.checked("code.single-use", 30);
    breaches.checked("authorize.echoes-state", 7);
    expect(breaches.kept()).toHaveLength(20);
    expect(breaches.kept()[8]).toMatchObject({ atMs: 800, askedRate: 10 });
    expect(breaches.rules()).toEqual([
      { id: "code.single-use", checks: 50, breaches: 50 },
      { id: "authorize.echoes-state", checks: 7, breaches: 0 },
    ]);
  });

  it("mask every form of a credential, and shorten long texts", () => {
    const secret = "s3cr+t/of client";
    const token = "tok.en+1234";
    const exchange = {
      method: "POST",
      path: `/x?secret=${encodeURIComponent(secret)}&t=${token}&code=unnamed-code`,
      requestBody: JSON.stringify({ secret, nested: JSON.stringify({ secret }) }),
      status: 200,
      answer: `${token} ${Buffer.from(token).toString("base64")} {"accessToken":"unnamed-token"} ${"x".repeat(5_000)}`,
      durationMs: 3,
    };
    const breaches = createBreaches([], [secret]);
    const exchanges = Array.from({ length: 15 }, () => exchange);
    const kept = breaches.proof(message({ actual: `got ${token}`, exchanges, secrets: [token] }), 0);
    const text = JSON.stringify(kept);
    const written = [secret, encodeURIComponent(secret), token, Buffer.from(token).toString("base64")];
    for (const hidden of [...written, "unnamed-code", "unnamed-token"]) expect(text).not.toContain(hidden);
    expect(kept?.actual).toBe("got ‹credential 1›");
    expect(kept?.exchanges).toHaveLength(10);
    expect(kept?.exchanges[0]?.answer.length).toBeLessThan(2_100);
    expect(kept?.exchanges[0]?.path).toBe(
      "/x?secret=‹client secret 1›&t=‹credential 1›&code=‹another credential›",
    );
  });

  it("leave texts without credentials unchanged", () => {
    const text = '{"data":[],"total":3,"timestamp":1700000000}';
    expect(maskOf(["longsecret"], ["another-one"])(text)).toBe(text);
  });
});
