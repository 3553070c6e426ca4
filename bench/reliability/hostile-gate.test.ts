import { describe, expect, it } from "vitest";
import { rules } from "../../conformance/rules/index.ts";
import { tryPushRun } from "./try-push-run.ts";
import { hostileGates, tryGates } from "./try-gate.ts";

/** A few of the whole gates of `npm run bench -- reliability`. */

const few = rules.filter(({ requirement }) =>
  ["authorize.answers-with-code", "exchange.token-set", "refresh.token-set", "notifications.shape"].includes(
    requirement,
  ),
);

describe("a gate on a hostile target", () => {
  it("ends in time, neither as passed nor as a harness error, and passes no promise that was never kept", async () => {
    const all = hostileGates(3, 1).filter(({ soundFirst }) => soundFirst === 0);
    expect(new Set(all.map(({ answer }) => answer.kind)).size).toBeGreaterThan(15);
    // Only those that end within a second: a held connection and Retry-After take many. Each kind once.
    const brief = all.filter(
      ({ answer, at }) =>
        !answer.kind.startsWith("a Retry-After") &&
        (at.length > 1 || at.includes("authorize") || at.includes("refresh")),
    );
    const quick = [...Map.groupBy(brief, ({ answer }) => answer.kind).values()].flatMap((one) =>
      one.slice(-1),
    );
    expect(quick.length).toBeGreaterThan(12);
    const { alone = [], everywhere = [] } = Object.groupBy(quick, ({ at }) =>
      at.length > 1 ? "everywhere" : "alone",
    );
    expect(await tryGates(alone, few)).toEqual({ inputs: alone.length, wrong: [] });
    // It is enough to shrink and replay the breaches of single endpoints.
    expect(await tryGates(everywhere, few, true)).toEqual({ inputs: everywhere.length, wrong: [] });
    expect([alone.length, everywhere.length]).not.toContain(0);
  });
});

describe("a push run beside hostile senders", () => {
  it.concurrent("fails no rule of a sound service, push.payload aside", async () => {
    const { sent, verdicts } = await tryPushRun("sound", 1);
    expect(sent).toBeGreaterThan(50);
    const others = Object.entries(verdicts).filter(([id]) => id !== "push.payload");
    expect(others.length).toBeGreaterThan(8);
    const unexpected = others.filter(([, { kind }]) => kind !== "passed" && kind !== "inconclusive");
    expect(unexpected).toEqual([]);
  });

  it.concurrent("still finds a sixth push", async () => {
    const { verdicts } = await tryPushRun(
      "push-reading-r7-from-start",
      1,
      rules.filter(({ requirement }) => requirement === "push.cap"),
    );
    expect(verdicts["push.cap"]).toMatchObject({ kind: "failed" });
  });
});
