import { describe, expect, it } from "vitest";
import { campaignOf, senderOf } from "../testing/campaigns.ts";
import type { Campaign } from "./data.ts";
import { judgeCap, judgeRetries } from "./judge-retries.ts";
import { judgeSchedule } from "./judge-schedule.ts";
import { lostConnections } from "./lost.ts";

/** Lines of the receiver's journal that tell of connections without a push. */
const faultsOf = (...messages: readonly string[]): Campaign["faults"] =>
  messages.map((message, index) => ({ kind: "fault", epoch: "one", n: index + 1, atMs: 0, message }));

const handshakes = faultsOf(
  "TLS handshake failed: ECONNRESET",
  "29 more within a second: TLS handshakes that failed",
);

/** A sender with this reading, none of whose pushes from this one on was seen. */
const withoutPushesFrom = (index: number, reading: "R1" | "R7", faults: Campaign["faults"]): Campaign => {
  const campaign = campaignOf(senderOf(reading), { clock: "real", faults });
  return {
    ...campaign,
    specimens: campaign.specimens.map((specimen) => ({
      ...specimen,
      pushes: specimen.pushes.slice(0, index),
    })),
  };
};

describe("connections that broke before a push could be read", () => {
  it("are counted line by line, but for those that met a certificate of nobody's", () => {
    const campaign = campaignOf(senderOf("R1"), { faults: handshakes });
    expect(lostConnections(campaign)).toBe(30);
    const disturbances = [{ kind: "untrusted", after: 1, last: 2 } as const];
    expect(lostConnections({ ...campaign, disturbances })).toBe(1);
  });

  it("as many as there are notifications may have hidden a sixth push of each", () => {
    expect(judgeCap(withoutPushesFrom(5, "R7", handshakes)).judgement).toMatchObject({
      kind: "undecided",
      reason: expect.stringContaining("30 connections broke"),
    });
    const few = faultsOf("TLS handshake failed: ECONNRESET");
    expect(judgeCap(campaignOf(senderOf("R1"), { clock: "real", faults: few })).judgement.kind).toBe("held");
  });

  it("may be what is missing, so that nothing is said to have been left undone", () => {
    for (const judge of [judgeRetries, judgeSchedule])
      for (const [faults, kind] of [
        [faultsOf(), "broke"],
        [handshakes, "undecided"],
      ] as const)
        expect(judge(withoutPushesFrom(1, "R1", faults)).judgement.kind).toBe(kind);
  });
});

describe("a watch that ends too early for how late the pushes came", () => {
  it("leaves the cap undecided where the next push may still have been to come", () => {
    // Each push is late by a little, as on a machine with too much to do: a sixth one after 480 s would be past the end.
    const late = { instantsMs: () => [0, 39_000, 108_000, 246_000, 520_000] };
    expect(judgeCap(campaignOf(late, { clock: "real" })).judgement.kind).toBe("undecided");
    const watchedUntil = { earliestMs: 1_200_000, latestMs: 1_200_000 };
    expect(judgeCap(campaignOf(late, { clock: "real", watchedUntil })).judgement.kind).toBe("held");
  });
});
