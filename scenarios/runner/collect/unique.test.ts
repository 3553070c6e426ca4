import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createUniqueness } from "./unique.ts";

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
