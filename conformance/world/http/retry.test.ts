import { describe, expect, it } from "vitest";
import { manualTime } from "../time/testing/time.ts";
import { TransportError } from "../exchange.ts";
import { beginAnew, createRetries, sendWithRetries, type Setback } from "./retry.ts";

const lost = (reason: TransportError["reason"]): Setback => ({ kind: "lost", reason });
const turnedAway = (retryAfterMs?: number): Setback => ({ kind: "turned away", retryAfterMs });

class EndedBy extends Error {
  readonly end: Setback;
  constructor(end: Setback) {
    super();
    this.end = end;
  }
}

/** A request that ends in each of these ways in turn, and is answered after that. */
const sendThrough = async (ends: readonly Setback[], isHarmless: boolean, isBack = true, awayMs = 0) => {
  const time = manualTime();
  const left = [...ends];
  let sent = 0;
  const sending = sendWithRetries(createRetries({ time, outageMs: 30_000 }), {
    health: { untilBack: () => time.pause(awayMs).then(() => isBack) },
    isHarmless,
    send: () => {
      sent += 1;
      const end = left.shift();
      return end === undefined ? Promise.resolve("answered") : Promise.reject(new EndedBy(end));
    },
    setbackOf: (error) => (error as EndedBy).end,
    onRepeat: () => undefined,
  });
  const result = await sending.catch((error: unknown) => error);
  return { isAnswered: result === "answered", sent, waitedMs: time.nowMs() };
};

const times = (count: number, end: Setback): readonly Setback[] => Array.from({ length: count }, () => end);

describe("sendWithRetries", () => {
  it.each([
    ["sends a request again until a connection is accepted", times(5, lost("refused")), false, true, 6],
    ["gives up after six refused connections", times(6, lost("refused")), false, false, 6],
    [
      "sends a harmless request again after its connection was closed",
      times(2, lost("closed")),
      true,
      true,
      3,
    ],
    ["gives up after three closed connections", times(3, lost("closed")), true, false, 3],
    [
      "sends a request once if it may have taken effect before its connection was closed",
      times(1, lost("closed")),
      false,
      false,
      1,
    ],
    ["does not send a request again after a time-out", times(1, lost("timeout")), true, false, 1],
    [
      "does not send a request again after an answer that is not HTTP",
      times(1, lost("protocol")),
      true,
      false,
      1,
    ],
    ["sends a throttled request again within the budget", times(3, turnedAway(10_000)), false, true, 4],
    ["gives up when throttling exceeds the budget", times(4, turnedAway(10_000)), false, false, 4],
    ["gives up at once if one Retry-After exceeds the budget", times(1, turnedAway(30_001)), false, false, 1],
  ] as const)("%s", async (_, ends, isHarmless, isAnswered, sent) => {
    expect(await sendThrough(ends, isHarmless)).toMatchObject({ isAnswered, sent });
  });

  it("has one budget for all waits of a request", async () => {
    const ends = [turnedAway(20_000), ...times(2, lost("refused")), lost("closed")];
    expect(await sendThrough(ends.slice(0, 2), true, true, 20_000)).toMatchObject({ isAnswered: true });
    expect(await sendThrough(ends, true, true, 20_000)).toEqual({
      isAnswered: false,
      sent: 3,
      waitedMs: 40_000,
    });
  });

  it("does not send a request again if the target stays away", async () => {
    expect(await sendThrough(times(1, lost("refused")), true, false)).toMatchObject({ sent: 1 });
  });
});

describe("beginAnew", () => {
  const losing = (count: number, reason: TransportError["reason"]) => {
    const seen = { begun: 0, onLost: 0 };
    const done = beginAnew(
      () => {
        seen.begun += 1;
        return seen.begun > count
          ? Promise.resolve("done")
          : Promise.reject(new TransportError(1, reason, "lost"));
      },
      () => void (seen.onLost += 1),
    );
    return done.then(
      (value) => ({ ...seen, value }),
      () => ({ ...seen, value: undefined }),
    );
  };

  it.each([
    [2, "closed", { begun: 3, onLost: 2, value: "done" }],
    [3, "closed", { begun: 3, onLost: 2, value: undefined }],
    [1, "timeout", { begun: 1, onLost: 0, value: undefined }],
  ] as const)(
    "starts over at most twice, and only after closed connections: %i lost, %s",
    async (count, reason, expected) => {
      expect(await losing(count, reason)).toEqual(expected);
    },
  );
});
