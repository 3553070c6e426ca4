import { describe, expect, it } from "vitest";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { authorized, exchanged } from "../testing/fixture.ts";
import { isPush, laterBy, sentMs } from "./proof.ts";

const refused = (n: number, more: Partial<ExchangeRecord> = {}): ExchangeRecord => ({
  ...exchanged(n),
  answer: { status: 400, headers: [], text: "{}" },
  ...more,
});
const start = 1_893_456_000_000;

describe("when exchanges were sent", () => {
  it("is what the target's clock read, however long the machine took", () => {
    const proof = [
      authorized(1, { clockMs: start, startedMs: 10 }),
      refused(2, { clockMs: start + 600_500, startedMs: 90_000 }),
      refused(3, { clockMs: start + 600_500, startedMs: 95_000 }),
    ];
    expect(sentMs(proof, false)).toEqual([start, start + 600_500, start + 600_500]);
    expect([...laterBy(proof, false)]).toEqual([
      [2, "+10 min 0.5 s"],
      [3, "+10 min 0.5 s"],
    ]);
  });

  it("is what answers said if the record has no reading, and unknown where neither tells", () => {
    expect(sentMs([authorized(1), refused(2), exchanged(3), refused(4)], false)).toEqual([
      start,
      undefined,
      start + 123,
      undefined,
    ]);
    expect(sentMs([authorized(1), refused(2), authorized(3)], false)).toEqual([start, start, start]);
  });

  it("is what this machine's clock said in real time", () => {
    const proof = [authorized(1, { startedMs: 5 }), refused(2, { startedMs: 61_005 })];
    expect(sentMs(proof, true)).toEqual([5, 61_005]);
    expect(laterBy(proof, true).get(2)).toBe("+1 min 1 s");
  });

  it("is unknown if two clocks counted in real time", () => {
    expect(sentMs([authorized(1), refused(2, { isPush: true })], true)).toEqual([undefined, undefined]);
  });
});

it("a push is told apart in older records by where it went", () => {
  const rule = "push.unacknowledged-retries";
  const request = { method: "POST", path: "/webhook?x=1", headers: [] };
  expect(isPush(refused(1, { rule, request }))).toBe(true);
  expect(isPush(authorized(1, { rule }))).toBe(false);
  expect(isPush(refused(1, { request }))).toBe(false);
  expect(isPush(refused(1, { request, isPush: true }))).toBe(true);
});
