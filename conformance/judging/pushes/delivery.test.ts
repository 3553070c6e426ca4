import { describe, expect, it } from "vitest";
import { shift } from "../interval.ts";
import { KEPT_CHARACTERS } from "../../contract/push.ts";
import { pushRunOf, pushAt, senderOf, withPushes } from "../../testing/push-runs.ts";
import { type SeenPush } from "./trace.ts";
import {
  judgeAcknowledgedStops,
  judgeDelivered,
  judgeLateAcknowledgement,
  judgeSameNotification,
} from "./delivery.ts";
import { judgePayload } from "./payload.ts";

const sound = pushRunOf(senderOf("R1"));

const withBody = (
  push: SeenPush,
  change: (body: Record<string, unknown>) => void,
  bodySha256 = "other",
): SeenPush => {
  const body = JSON.parse(push.line.body) as Record<string, unknown>;
  change(body);
  return { ...push, line: { ...push.line, body: JSON.stringify(body), bodySha256 } };
};

describe("delivery", () => {
  it("does not tell whether pushes end with an acknowledgement that the clock was moved over for long", () => {
    const again = pushRunOf({ ...senderOf("R1"), isDone: () => false });
    const over = (forMs: number) =>
      withPushes(again, (push) => ({
        ...push,
        isPassedOver: true,
        ended: { earliestMs: push.at.earliestMs, latestMs: push.at.earliestMs + forMs },
      }));
    for (const judge of [judgeAcknowledgedStops, judgeLateAcknowledgement]) {
      expect(judge(again).judgement.kind).toBe("failed");
      expect(judge(over(100)).judgement.kind).toBe("failed");
      expect(judge(over(20_000))).toMatchObject({
        judgement: {
          kind: "inconclusive",
          reason: expect.stringContaining("given up on it"),
          settle: expect.stringContaining("hooks.clock.advance"),
        },
      });
    }
  });

  it("does not tell on a moved clock whether pushes end with an acknowledgement that a busy machine gave too late", () => {
    const again = pushRunOf({ ...senderOf("R1"), isDone: () => false });
    const after = (uncertaintyMs: number) =>
      withPushes(again, ({ line, ...push }) => ({
        ...push,
        line:
          line.action === "hang"
            ? { ...line, answeredMs: line.firstByteMs + 5_000 }
            : { ...line, uncertaintyMs },
      }));
    for (const judge of [judgeAcknowledgedStops, judgeLateAcknowledgement]) {
      expect(judge(after(4_000)).judgement.kind).toBe("failed");
      expect(judge(after(6_000))).toMatchObject({
        judgement: { kind: "inconclusive", reason: expect.stringContaining("this machine was too busy") },
      });
    }
  });

  it("does not tell in real time whether pushes end with an acknowledgement that a busy machine gave too late", () => {
    const again = pushRunOf({ ...senderOf("R1"), isDone: () => false });
    const busy = (forMs: number, about: "then" | "never" = "then") => ({
      ...withPushes(again, ({ line, ...push }) => ({
        ...push,
        ended: shift(push.at, 400),
        line: { ...line, answeredMs: line.firstByteMs + 400 },
      })),
      clock: "real" as const,
      stalls: about === "never" ? [] : [{ earliestMs: -Infinity, latestMs: Infinity, forMs }],
      unrestMs: forMs,
    });
    for (const judge of [judgeAcknowledgedStops, judgeLateAcknowledgement]) {
      expect(judge(busy(100)).judgement.kind).toBe("failed");
      // Pushes that are usually late say nothing about this machine's answers.
      expect(judge(busy(20_000, "never")).judgement.kind).toBe("failed");
      // The sender was seen to wait for ten seconds.
      expect(judge(busy(20_000))).toMatchObject({
        judgement: {
          kind: "inconclusive",
          reason: expect.stringContaining("this machine was too busy: an answer took up to 20.4"),
          settle: expect.stringContaining("less busy"),
        },
      });
    }
  });

  it("leaves bodies alone that are longer than a receiver keeps", () => {
    const long = withPushes(sound, (push, index) => ({
      ...push,
      line: {
        ...push.line,
        body: `{"data":"${"x".repeat(KEPT_CHARACTERS)}`.slice(0, KEPT_CHARACTERS),
        bodySha256: String(index),
      },
    }));
    expect(judgeDelivered(long).judgement).toEqual({ kind: "passed" });
    expect(judgeSameNotification(long).judgement).toEqual({ kind: "passed" });
    expect(judgePayload(long).judgement).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringContaining("longer than the 262144 characters that the receiver keeps"),
    });
    const unreadable = withPushes(long, (push) => {
      const { notificationId: _, ...line } = push.line;
      return { ...push, line };
    });
    expect(judgeDelivered(unreadable).judgement.kind).toBe("failed");
  });

  it("reports the request that came instead of a push", () => {
    const put = pushAt(5, { kind: "answer", status: 405 }, { line: { method: "PUT", action: "not-a-push" } });
    const wrong = pushRunOf({ instantsMs: () => [] }, { others: [put] });
    expect(judgeDelivered(wrong).judgement).toMatchObject({
      kind: "failed",
      actual: expect.stringContaining("PUT /service/webhook"),
    });
  });

  it("is inconclusive if the only pushes name no notification", () => {
    const nameless = pushRunOf({ instantsMs: () => [] }, { others: [pushAt(5, { kind: "answer" })] });
    expect(judgeDelivered(nameless).judgement.kind).toBe("inconclusive");
    expect(judgePayload(nameless).judgement.kind).toBe("failed");
  });

  it.each<[string, (index: number) => object, string, readonly string[] | undefined]>([
    [
      "fails if a later push differs in a documented field",
      (index) => (index === 1 ? { remark: "second push" } : {}),
      "failed",
      undefined,
    ],
    ["passes if it differs in another field", (index) => ({ pushNumber: index }), "passed", ["pushNumber"]],
    // A notification may be read between two pushes.
    ["passes if it differs in status", (index) => ({ status: `read ${index}` }), "passed", ["status"]],
  ])("%s", (_, changesAt, kind, furtherFieldsThatDiffer) => {
    const changed = withPushes(sound, (push, index) =>
      withBody(push, (body) => Object.assign(body, changesAt(index)), `sha ${index}`),
    );
    const { judgement, facts } = judgeSameNotification(changed);
    expect([judgement.kind, facts?.["furtherFieldsThatDiffer"]]).toEqual([kind, furtherFieldsThatDiffer]);
  });
});

describe("stopping after an acknowledgement", () => {
  it("is inconclusive for later acknowledgements if nothing is pushed again", () => {
    expect(judgeLateAcknowledgement(pushRunOf({ instantsMs: () => [0] })).judgement.kind).toBe(
      "inconclusive",
    );
  });
});
