import { describe, expect, it } from "vitest";
import type { ExchangeRecord } from "../../conformance/contract/record.ts";
import { authorized, exchanged } from "../testing/fixture.ts";
import { laterBy } from "./proof.ts";

const refused = (n: number, more: Partial<ExchangeRecord> = {}): ExchangeRecord => ({
  ...exchanged(n),
  answer: { status: 400, headers: [], text: "{}" },
  ...more,
});
const start = 1_893_456_000_000;

describe("how much later an exchange was sent", () => {
  it("is what the target's clock read, however long the machine took", () => {
    const proof = [
      authorized(1, { clockMs: start, startedMs: 10 }),
      refused(2, { clockMs: start + 600_500, startedMs: 90_000 }),
      refused(3, { startedMs: 95_000 }),
      refused(4, { clockMs: start + 600_500, startedMs: 99_000 }),
      refused(5, { startedMs: 99_000 }),
    ];
    // The third was sent between two others of the same moment; nothing encloses the last.
    expect([...laterBy(proof, false)]).toEqual([
      [2, "+10 min 0.5 s"],
      [3, "+10 min 0.5 s"],
      [4, "+10 min 0.5 s"],
    ]);
  });

  it("is what this machine's clock said in real time", () => {
    const proof = [authorized(1, { startedMs: 5 }), refused(2, { startedMs: 61_005 })];
    expect([...laterBy(proof, true)]).toEqual([[2, "+1 min 1 s"]]);
  });

  it("is unknown if two clocks counted in real time", () => {
    const push = refused(2, { startedMs: 61_005, isPush: true });
    expect([...laterBy([authorized(1, { startedMs: 5 }), push], true)]).toEqual([]);
  });
});
