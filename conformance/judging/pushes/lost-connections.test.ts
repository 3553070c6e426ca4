import { describe, expect, it } from "vitest";
import { moment, outageOf, pushRunOf, senderOf, withCases } from "../../testing/push-runs.ts";
import type { LostStage } from "../../contract/push.ts";
import type { PushCase, PushRun, LostConnection } from "./trace.ts";
import { judgeDelivered } from "./delivery.ts";
import { judgeIndependence } from "./independence.ts";
import { judgeCap } from "./cap.ts";
import { judgeRetries } from "./retries.ts";
import { judgeSchedule } from "./schedule.ts";

const lostAt = (stage: LostStage, moments: readonly number[], address = "192.0.2.1"): LostConnection[] =>
  moments.map((at, index) => ({ n: index + 1, stage, address, at: moment(at) }));

/** Health checks of a load balancer, one per period. */
const probesEvery = (periodMs: number, stage: LostStage = "silent"): LostConnection[] =>
  lostAt(
    stage,
    Array.from({ length: Math.floor(1_070_000 / periodMs) }, (_, index) => -59_700 + index * periodMs),
  );

/** A sender with this reading of whose failing notifications, or of all after a push of many, nothing was seen from this push on; `lost` gets the moments. */
const withoutPushesFrom = (
  index: number,
  reading: "R1" | "R7",
  lost: (moments: readonly number[]) => readonly LostConnection[],
  clock: PushRun["clock"] = "real",
): PushRun => {
  const pushRun = pushRunOf(senderOf(reading), { clock });
  const isCut = ({ purpose }: Pick<PushCase, "purpose">): boolean => purpose === "never" || index > 1;
  const unseen = pushRun.pushCases.filter(isCut).flatMap(({ pushes }) => pushes.slice(index));
  return {
    ...withCases(pushRun, (one) => (isCut(one) ? { pushes: one.pushes.slice(0, index) } : {})),
    lost: lost(unseen.map(({ at }) => at.latestMs)),
  };
};
const handshakes = (moments: readonly number[]) => lostAt("handshake", moments);
const none = () => [];

describe("connections that broke before a push could be read", () => {
  it("make the cap inconclusive if each notification has one when its sixth push was due", () => {
    expect(judgeCap(withoutPushesFrom(5, "R7", handshakes)).judgement).toMatchObject({
      kind: "inconclusive",
      reason: expect.stringMatching(
        /^\d+ connections broke before .* perhaps one beyond the cap of each notification$/,
      ),
    });
    const one = (moments: readonly number[]) => handshakes(moments.slice(0, 1));
    expect(judgeCap(withoutPushesFrom(5, "R7", one)).judgement.kind).toBe("passed");
    const early = (moments: readonly number[]) => handshakes(moments.map(() => 5_000));
    expect(judgeCap(withoutPushesFrom(5, "R7", early)).judgement.kind).toBe("passed");
  });

  it("make rules inconclusive instead of failed if they may be the missing pushes", () => {
    for (const judge of [judgeRetries, judgeSchedule])
      for (const [lost, kind] of [
        [none, "failed"],
        [handshakes, "inconclusive"],
      ] as const)
        expect(judge(withoutPushesFrom(1, "R1", lost)).judgement.kind).toBe(kind);
    expect(judgeDelivered(withoutPushesFrom(0, "R1", handshakes)).judgement.kind).toBe("inconclusive");
  });

  it("have the same effect on a virtual clock if they are as many as the missing pushes", () => {
    const missing = (lost: (moments: readonly number[]) => readonly LostConnection[]): PushRun =>
      withoutPushesFrom(1, "R1", lost, "virtual");
    expect(judgeSchedule(missing(handshakes)).judgement.kind).toBe("inconclusive");
    expect(judgeSchedule(missing((moments) => handshakes(moments.slice(0, 1)))).judgement.kind).toBe(
      "failed",
    );
  });

  it("do not excuse a missing push if they broke when it was not due", () => {
    const quiet = (moments: readonly number[]) => handshakes(moments.map((_, index) => 300_000 + index));
    expect(judgeRetries(withoutPushesFrom(1, "R1", quiet)).judgement.kind).toBe("failed");
  });

  it("do not excuse a missing push if they met an untrusted certificate", () => {
    const pushRun = withoutPushesFrom(1, "R1", handshakes);
    const last = pushRun.lost.length;
    const outages = [outageOf("untrusted", 0, last)];
    expect(judgeRetries({ ...pushRun, outages }).judgement.kind).toBe("failed");
  });
});

describe("a load balancer that checks whether the receiver listens", () => {
  it.each([
    [1_000, "silent"],
    [1_000, "no-request"],
    [1_000, "not-tls"],
  ] as const)("changes no verdict if it connects every %i ms (%s)", (periodMs, stage) => {
    const lost = probesEvery(periodMs, stage);
    const sound = pushRunOf(senderOf("R1"), { clock: "real", lost });
    for (const judge of [judgeDelivered, judgeRetries, judgeCap, judgeSchedule, judgeIndependence])
      expect(judge(sound).judgement).toEqual({ kind: "passed" });
    expect(judgeCap(sound).facts).toMatchObject({ connectionsWithoutPush: { [stage]: lost.length } });
    expect(judgeRetries(withoutPushesFrom(1, "R1", () => lost)).judgement.kind).toBe("failed");
    expect(judgeSchedule(withoutPushesFrom(1, "R1", () => lost)).judgement.kind).toBe("failed");
    expect(judgeCap(pushRunOf(senderOf("R7"), { clock: "real", lost })).judgement.kind).toBe("failed");
  });

  it("does not hide broken handshakes, and does not excuse missing pushes by itself", () => {
    const both = (moments: readonly number[]) => [...probesEvery(1_000), ...handshakes(moments)];
    expect(judgeRetries(withoutPushesFrom(1, "R1", both)).judgement.kind).toBe("inconclusive");
    const more = (moments: readonly number[]) => [
      ...probesEvery(30_000),
      ...lostAt(
        "silent",
        moments.flatMap((at) => Array.from({ length: 9 }, () => at)),
      ),
    ];
    // However many there are: no part of a push was ever sent on them.
    expect(judgeRetries(withoutPushesFrom(1, "R1", more)).judgement.kind).toBe("failed");
  });
});

describe("watching that stops early, compared with how late the pushes came", () => {
  it("leaves the cap inconclusive if another push may still have been due", () => {
    // Each push is a little late, as on a busy machine: a sixth one after 480 s would come after the end.
    const late = { instantsMs: () => [0, 39_000, 108_000, 246_000, 520_000] };
    expect(judgeCap(pushRunOf(late, { clock: "real" })).judgement.kind).toBe("inconclusive");
    const longer = pushRunOf(late, { clock: "real", watchedUntil: moment(1_200_000) });
    expect(judgeCap(longer).judgement.kind).toBe("passed");
  });
});
