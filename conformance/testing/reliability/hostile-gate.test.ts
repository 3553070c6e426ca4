import { describe, expect, it } from "vitest";
import { rules } from "../../rules/index.ts";
import { tryCampaign } from "./try-campaign.ts";
import { hostileGates, tryGates } from "./try-gate.ts";

/** A few of the whole gates of `npm run bench -- reliability`. */

const few = rules.filter(({ requirement }) =>
  [
    "authorize.answers-with-code",
    "code.single-use",
    "exchange.token-set",
    "refresh.token-set",
    "notifications.shape",
  ].includes(requirement),
);

describe("a gate before a target that answers with everything wrong", () => {
  it("is over in time, is neither green nor a fault of its own, and what was never kept does not pass", async () => {
    const all = hostileGates(3, 1);
    const kinds = new Set(all.map(({ answer }) => answer.kind));
    expect(kinds.size).toBeGreaterThan(15);
    // One gate of every kind, everywhere and alone, from the start and later in turn.
    const gates = [...kinds].flatMap(
      (kind, index) => all.filter(({ answer }) => answer.kind === kind)[[0, 2, 1, 3][index % 4] ?? 0] ?? [],
    );
    expect(gates).toHaveLength(kinds.size);
    expect(await tryGates(gates, few)).toEqual({ inputs: kinds.size, wrong: [] });
  });
});

describe("a campaign of pushes beside hostile senders", () => {
  it("fails nothing of a sound service but what hostile bodies break by themselves", async () => {
    const { sent, verdicts } = await tryCampaign("sound", 1);
    expect(sent).toBeGreaterThan(50);
    const others = Object.entries(verdicts).filter(([id]) => id !== "push.payload");
    expect(others.length).toBeGreaterThan(8);
    const loose = others.filter(([, { kind }]) => kind !== "passed" && kind !== "inconclusive");
    expect(loose).toEqual([]);
  });

  it("still sees a sixth push", async () => {
    const { verdicts } = await tryCampaign("push-reading-r7-from-start", 1);
    expect(verdicts["push.cap"]).toMatchObject({ kind: "failed" });
  });
});
