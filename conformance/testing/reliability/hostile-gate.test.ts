import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.ts";
import { tryPushRun } from "./try-push-run.ts";
import { hostileGates, tryGates } from "./try-gate.ts";

/** A few of the whole gates of `npm run bench -- reliability`. */

const few = rules.filter(({ requirement }) =>
  ["authorize.answers-with-code", "exchange.token-set", "refresh.token-set", "notifications.shape"].includes(
    requirement,
  ),
);

describe("a gate before a target that answers with everything wrong", () => {
  it("is over in time, is neither green nor a harness error, and what was never kept does not pass", async () => {
    const all = hostileGates(3, 1).filter(({ soundFirst }) => soundFirst === 0);
    expect(new Set(all.map(({ answer }) => answer.kind)).size).toBeGreaterThan(15);
    // Those that are over within a second: who waits for a held connection, or is asked to, takes many. Each kind once.
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
    // To shrink and replay what one endpoint breaks is enough.
    expect(await tryGates(everywhere, few, true)).toEqual({ inputs: everywhere.length, wrong: [] });
    expect([alone.length, everywhere.length]).not.toContain(0);
  });
});

describe("a push run beside hostile senders", () => {
  it.concurrent("fails nothing of a sound service but what hostile bodies break by themselves", async () => {
    const { sent, verdicts } = await tryPushRun("sound", 1);
    expect(sent).toBeGreaterThan(50);
    const others = Object.entries(verdicts).filter(([id]) => id !== "push.payload");
    expect(others.length).toBeGreaterThan(8);
    const loose = others.filter(([, { kind }]) => kind !== "passed" && kind !== "inconclusive");
    expect(loose).toEqual([]);
  });

  it.concurrent("still sees a sixth push", async () => {
    const { verdicts } = await tryPushRun(
      "push-reading-r7-from-start",
      1,
      rules.filter(({ requirement }) => requirement === "push.cap"),
    );
    expect(verdicts["push.cap"]).toMatchObject({ kind: "failed" });
  });
});
