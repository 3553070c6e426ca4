import { describe, expect, it } from "vitest";
import { stagesOf } from "../../stages.ts";
import { createBreaches, maskOf, createUniqueness } from "./breaches.ts";
import { createHash } from "node:crypto";

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

const digest = (of: number | string): string =>
  createHash("sha256").update(String(of)).digest("hex").slice(0, 16);

describe("uniqueness", () => {
  it("reports a repeated credential at once, with the time of its first issue", () => {
    const { add, note } = createUniqueness();
    expect(add("codes", "code", digest(1), 10)).toBeUndefined();
    expect(add("codes", "code", digest(1), 30)).toEqual({ what: "code", atMs: 30, beforeMs: 10 });
    expect(add("codes", "code", digest(1), 40)).toEqual({ what: "code", atMs: 40, beforeMs: 10 });
    expect(note()).toBeUndefined();
  });

  it("compares tokens of all kinds with one another, but not with codes", () => {
    const { add } = createUniqueness();
    expect(add("codes", "code", digest(1), 10)).toBeUndefined();
    expect(add("tokens", "accessToken", digest(1), 20)).toBeUndefined();
    const again = { what: "refreshToken", atMs: 30, beforeMs: 20 };
    expect(add("tokens", "refreshToken", digest(1), 30)).toEqual(again);
  });

  it("finds a credential that is repeated after up to 200,000 others", () => {
    const { add, note } = createUniqueness(2 ** 16);
    const count = 200_000;
    for (let at = 0; at < count; at += 1)
      if (add("codes", "code", digest(at), at) !== undefined) throw new Error(`${at} is new`);
    for (const again of [17, 4_000, count - 1])
      expect(add("codes", "code", digest(again), count + again)?.beforeMs).toBe(again);
    expect(note()).toBeUndefined();
  });

  it("compares only with the latest credentials if there are too many, and notes it", () => {
    const [slots, tables] = [2 ** 10, 3];
    const full = slots * 0.75;
    const { add, note } = createUniqueness(slots, tables);
    for (let at = 0; at < tables * full; at += 1) add("tokens", "accessToken", digest(at), at);
    expect(note()).toBeUndefined();
    expect(add("tokens", "accessToken", digest(0), 1)?.beforeMs).toBe(0);
    add("tokens", "accessToken", digest("one more"), 1);
    expect(note()).toBe(`each was compared with at least the ${2 * full} issued before it`);
    expect(add("tokens", "accessToken", digest(full), 1)?.beforeMs).toBe(full);
    expect(add("tokens", "accessToken", digest(full - 1), 1)).toBeUndefined();
  });

  it("ignores values that are not digests", () => {
    const { add } = createUniqueness();
    for (const nothing of ["", "xyz", "ABCDEF0123456789", "0123456789abcdef0"]) {
      expect(add("codes", "code", nothing, 1)).toBeUndefined();
      expect(add("codes", "code", nothing, 2)).toBeUndefined();
    }
  });
});
