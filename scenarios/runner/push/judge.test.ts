import { describe, expect, it } from "vitest";
import { documentLimits } from "../../../conformance/contract/limits.ts";
import { pushAt } from "../../../conformance/testing/push-runs.ts";
import { notificationBody } from "../../../conformance/testing/made.ts";
import { judgePushes, type PushEvidence } from "./judge.ts";
import type { LoadPush } from "./seen.ts";

const at = (ms: number) => ({ earliestMs: ms, latestMs: ms + 20 });

const ID = "0f8fad5b-d9cb-469f-a165-70867728950e";
const ACCOUNT = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/** The pushes of one notification at these seconds; the last one acknowledged where it says so. */
const pushes = (id: string, seconds: readonly number[], acknowledged = false): LoadPush[] =>
  seconds.map((second, index) => {
    const status = acknowledged && index === seconds.length - 1 ? 200 : 503;
    const line = { notificationId: id, body: notificationBody(ID, ACCOUNT), bodySha256: id };
    const seen = pushAt(second * 1_000, { kind: "answer", status }, { attempt: index + 1, line });
    return { ...seen, at: at(second * 1_000), ended: at(second * 1_000), atMs: second * 1_000 };
  });

const judge = (
  seen: readonly LoadPush[],
  ids = [...new Set(seen.map(({ line }) => line.notificationId ?? ""))],
  untilS = 1_200,
  more: Partial<PushEvidence> = {},
) => {
  const evidence: PushEvidence = {
    events: ids.map((notificationId) => ({
      notificationId,
      accountId: ACCOUNT,
      atMs: 0,
      target: at(0),
    })),
    pushes: seen,
    watchedUntil: at(untilS * 1_000),
    limits: documentLimits,
    latenessMs: undefined,
    acknowledgedStatus: 200,
    askedRateAt: () => 50,
    ...more,
  };
  const { rules, ...rest } = judgePushes(evidence);
  return {
    ...rest,
    rules,
    broken: rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id),
    checks: Object.fromEntries(rules.map(({ id, checks }) => [id, checks])),
    notes: rules.flatMap(({ note }) => (note === undefined ? [] : [note])),
  };
};

const mostCalls = (depth = 0): number => {
  try {
    return mostCalls(depth + 1);
  } catch {
    return depth;
  }
};

/** Where little of the stack is left, a call takes few arguments, so that few notifications show what many would. */
const nearTheEndOfTheStack = <T>(act: () => T, calls = 0.8 * mostCalls()): T =>
  calls > 1 ? nearTheEndOfTheStack(act, calls - 1) : act();

/** Beside the traces that all drivers judge alike (conformance/judging/pushes/corpus.test.ts). */
describe("judgePushes", () => {
  it.each([
    ["an event that is never pushed", pushes("a", [0.1], true), ["a", "b"], ["push.delivered"]],
    [
      "another account in every push",
      pushes("a", [0, 30], true).map((push) => ({
        ...push,
        line: { ...push.line, body: notificationBody(ID, ID) },
      })),
      ["a"],
      ["push.payload"],
    ],
    [
      "a body that changes",
      pushes("a", [0, 30], true).map((push, index) => ({
        ...push,
        line: {
          ...push.line,
          body: JSON.stringify({ ...(JSON.parse(push.line.body) as object), remark: `${index}` }),
          bodySha256: `${index}`,
        },
      })),
      ["a"],
      ["push.same-notification"],
    ],
  ])("finds %s", (_, seen, ids, broken) => {
    const judged = judge(seen, ids);
    expect(judged.broken).toEqual(broken);
    expect(judged.breaches[0]).toMatchObject({ rule: broken[0], askedRate: 50 });
  });

  it("finds a breach of push.schedule if two notifications fit no common reading", () => {
    const judged = judge([...pushes("a", [0, 30, 90, 210, 450]), ...pushes("b", [0, 30, 60, 120, 240])]);
    expect(judged.broken).toEqual(["push.schedule"]);
  });

  it("leaves open the notifications that come late in the way of a sender that polls, and says why", () => {
    const polled = [0, 1, 2].flatMap((from) => pushes(`a ${from}`, [from + 0.1, 45, 105, 225, 465]));
    const onTime = pushes("b", [14.9, 45, 105, 225, 465]);
    const judged = judge([...polled, ...onTime]);
    expect(judged.broken).toEqual([]);
    expect(judged.checks["push.schedule"]).toBe(4);
    expect(judged.rules.find(({ id }) => id === "push.schedule")?.open).toBe(3);
    expect(judged.notes).toEqual([
      expect.stringMatching(
        /^3 failing notifications were not judged: pushes follow R1, but up to 14.88 s late, as if the sender looks for due pushes every 15 s or more; /,
      ),
    ]);
  });

  it("counts the pushes of a notification together, whatever the case in which its id is told or pushed", () => {
    const spelled = (pushedIds: readonly string[]) =>
      pushes("a", [0.1, 30.2, 90.3, 210.4, 450.5]).map((one, index) => {
        const id = pushedIds[index] ?? "";
        return { ...one, line: { ...one.line, notificationId: id, bodySha256: id, body: `{"id":"${id}"}` } };
      });
    const told = judge(spelled(Array<string>(5).fill("a")), ["A"]);
    expect(told.checks).toMatchObject({ "push.schedule": 4, "push.delivered": 1 });
    expect(told.broken).toEqual(["push.payload"]);
    const retried = judge(spelled(["a", "A", "A", "A", "A"]), ["a"]);
    expect(retried.checks).toMatchObject({ "push.schedule": 4, "push.delivered": 1 });
    expect(retried.broken).toEqual(["push.payload", "push.same-notification"]);
  });

  it("waits for an event's turn where a sender delivers those of an account one after the other", () => {
    const seconds = [0.1, 30.2, 90.3, 210.4, 450.5];
    const after = (untilS: number) => judge(pushes("a", seconds), ["a", "b"], untilS);
    const isDelivered = ({ broken }: ReturnType<typeof after>): boolean => !broken.includes("push.delivered");
    expect(isDelivered(after(470))).toBe(true);
    expect(isDelivered(after(600))).toBe(false);
    // One whose pushes are not over may hold it up for good.
    expect(judge(pushes("a", seconds.slice(0, 2)), ["a", "b"], 80).broken).not.toContain("push.delivered");
    expect(judge(pushes("a", [0.1, 30.2], true), ["a", "b"], 100).broken).toEqual(["push.delivered"]);
  });

  it("names a notification once, and counts a single push as one", () => {
    const twice = [...pushes("a", [0.1], true), ...pushes("a", [5], true)];
    const [again] = judge(twice).breaches.filter(({ rule }) => rule === "push.acknowledged-stops");
    expect(again?.actual).toMatch(/^notification a: 1 push came after that,/);
    const [alone] = judge([...pushes("b", [0, 30, 90, 210, 450]), ...pushes("a", [0])]).breaches;
    expect(alone?.actual).toBe("notification a: 1 push, none acknowledged, and no more");
  });

  it("allows in real time for what this machine and the first pushes were late, unless the profile says how much", () => {
    const limits = { ...documentLimits, pushDelaysMs: [1_000, 2_000, 4_000, 8_000] };
    // At moments that no sender which polls would share with the late one.
    const punctual = [0, 0.25, 0.6].flatMap((from) =>
      pushes(
        `a ${from}`,
        [0, 1, 3, 7, 15].map((second) => from + second),
      ),
    );
    const late = pushes("b", [0, 1.45, 3.45, 7.45, 15.45]);
    const of = (more: Partial<PushEvidence>, firstS = 0) => {
      const first = Array.from({ length: 20 }, (_, index) => pushes(`b ${index}`, [firstS], true)).flat();
      return judge([...punctual, ...late, ...first], undefined, 1_200, { limits, ...more }).broken;
    };
    const broken = ["push.schedule"];
    expect(of({})).toEqual(broken);
    expect(of({ stalledMs: 20 })).toEqual(broken);
    expect(of({ stalledMs: 200 })).toEqual([]);
    expect(of({ stalledMs: 200, latenessMs: 333 })).toEqual(broken);
    expect(of({ stalledMs: 20 }, 0.05)).toEqual(broken);
    expect(of({ stalledMs: 20 }, 0.25)).toEqual([]);
  });

  it("allows for a push that was read late because this process stalled, after which the next one seems early", () => {
    // Not whole seconds, to which senders may cut.
    const limits = { ...documentLimits, pushDelaysMs: [2_100, 4_200, 8_400, 16_800] };
    const seconds = [0, 2.1, 6.3, 14.7, 31.5];
    const [seen, punctual] = [
      pushes("a", seconds.with(1, 3)),
      pushes(
        "b",
        seconds.map((one) => one + 0.3),
      ),
    ];
    const of = (stalledMs: number) =>
      judge([...seen, ...punctual], undefined, 1_200, { limits, stalledMs }).broken;
    expect(of(50)).toEqual(["push.schedule"]);
    expect(of(950)).toEqual([]);
  });

  it("does not tell whether pushes end with an acknowledgement that a busy machine gave too late", () => {
    const again = [...pushes("a", [0.1], true), ...pushes("a", [30], true)];
    const of = (forMs: number, beforeMs = 0, heldMs = 0) => {
      const stalls = [{ earliestMs: 100 - beforeMs - forMs, latestMs: 100 - beforeMs, forMs }];
      const seen = again.map(({ line, ...push }) => ({
        ...push,
        line: { ...line, answeredMs: line.firstByteMs + heldMs },
      }));
      const { broken, checks, notes } = judge(seen, ["a"], 1_200, { stalledMs: forMs, stalls });
      return {
        isBroken: broken.includes("push.acknowledged-stops"),
        checks: checks["push.acknowledged-stops"],
        notes,
      };
    };
    expect(of(0)).toEqual({ isBroken: true, checks: 1, notes: [] });
    expect(of(400)).toMatchObject({ isBroken: true, checks: 1 });
    const note =
      "1 notification was pushed again after an acknowledgement that this machine may have given too late";
    expect(of(1_200)).toEqual({ isBroken: false, checks: 0, notes: [note] });
    expect(of(0, 0, 1_200)).toEqual({ isBroken: false, checks: 0, notes: [note] });
    // Not where it stalled at another time.
    expect(of(1_200, 60_000)).toEqual({ isBroken: true, checks: 1, notes: [] });
  });

  it("finds further pushes after an acknowledgement of a sender that polls, however late its first pushes are", () => {
    const polled = Array.from({ length: 200 }, (_, index) => {
      const firstS = 0.01 + (1.2 * index) / 200;
      return [...pushes(`a ${index}`, [firstS], true), ...pushes(`a ${index}`, [firstS + 5], true)];
    }).flat();
    const { broken, checks, breaches } = judge(polled, undefined, 1_200, { stalledMs: 0, stalls: [] });
    expect(broken).toEqual(["push.acknowledged-stops"]);
    expect(checks["push.acknowledged-stops"]).toBe(200);
    expect(breaches).toHaveLength(200);
  });

  it("judges more failing notifications and events of one account than a call takes arguments", () => {
    const many = 25_000;
    const attempts = pushes("a", [0, 45]);
    const failed = Array.from({ length: many }, (_, index) =>
      attempts.map((one) => ({ ...one, line: { ...one.line, notificationId: `a ${index}` } })),
    );
    const ids = failed.map((_, index) => `a ${index}`);
    const acknowledged = failed.flatMap(([one]) =>
      one === undefined ? [] : [{ ...one, line: { ...one.line, status: 200 } }],
    );
    const [ofFailed, ofAcknowledged] = nearTheEndOfTheStack(() => {
      expect(() => Math.max(...ids.map(() => 0))).toThrow(RangeError);
      return [judge(failed.flat(), ids, 50), judge(acknowledged, [...ids, "lost"])];
    });
    expect(ofFailed.checks).toMatchObject({ "push.delivered": many });
    expect(ofAcknowledged.broken).toEqual(["push.delivered"]);
  });

  it("does not count a failing notification for the cap before a push beyond it is overdue", () => {
    const after = (untilS: number, seconds: readonly number[]) => {
      const judged = judge([...pushes("a", seconds), ...pushes("b", [0], true)], undefined, untilS);
      const notes = judged.notes.filter((note) => note.includes("beyond the cap"));
      const [isBroken, checks] = [judged.broken.includes("push.cap"), judged.checks["push.cap"]];
      return { isBroken, checks, notes, readings: judged.readings };
    };
    const five = [0, 30, 90, 210, 450];
    const note = "1 failing notification was not watched until a push beyond the cap was overdue";
    expect(after(960, five)).toEqual({ isBroken: false, checks: 1, notes: [note], readings: ["R1", "R5"] });
    expect(after(1_032, five)).toEqual({ isBroken: false, checks: 2, notes: [], readings: ["R1"] });
    expect(after(960, [...five, 930])).toMatchObject({ isBroken: true, checks: 2, notes: [] });
  });

  describe("with connections that broke before a push could be read", () => {
    const lost = (...seconds: readonly number[]) => ({
      lost: seconds.map((second, index) => ({
        n: index + 1,
        stage: "handshake" as const,
        at: at(second * 1_000),
      })),
    });

    it("leaves a failing notification open whose first push may have been on one", () => {
      const seen = pushes("a", [30.1, 60.1, 120.1, 240.1]);
      expect(judge(seen).broken).toContain("push.unacknowledged-retries");
      const judged = judge(seen, undefined, undefined, lost(0.05));
      expect(judged.broken).toEqual([]);
      expect(judged.notes.join()).toContain("a connection broke before the receiver could read a push");
      expect(judged.rules.find(({ id }) => id === "push.unacknowledged-retries")).toMatchObject({
        checks: 0,
        open: 1,
      });
    });

    it("leaves an event open of which nothing else came", () => {
      expect(judge([], ["a"]).broken).toEqual(["push.delivered"]);
      expect(judge([], ["a"], undefined, lost(0.05)).broken).toEqual([]);
    });

    it("lets each of them account for one notification only", () => {
      const judged = judge([], ["a", "b"], undefined, lost(0.05));
      expect(judged.rules.find(({ id }) => id === "push.delivered")).toMatchObject({ breaches: 1, open: 1 });
    });

    it("does not take those for a push that came before the event, or sent no request", () => {
      expect(judge([], ["a"], undefined, lost(-5)).broken).toEqual(["push.delivered"]);
      const [one] = lost(0.05).lost;
      const unused = { lost: [{ ...one, n: 1, at: at(50), stage: "no-request" as const }] };
      expect(judge([], ["a"], undefined, unused).broken).toEqual(["push.delivered"]);
    });
  });

  it("shows the status and the body of the answers to the pushes of a breach", () => {
    const seen = pushes("a", [0.1, 30.1, 90.1]).map((push) => ({
      ...push,
      line: {
        ...push.line,
        outcome: "sent" as const,
        answer: "HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy",
      },
    }));
    const [breach] = judge(seen).breaches;
    expect(breach?.exchanges[0]).toMatchObject({ status: 503, answer: "busy" });
    const cut = seen.map((push) => ({ ...push, line: { ...push.line, outcome: "closed" as const } }));
    expect(judge(cut).breaches[0]?.exchanges[0]).toMatchObject({ status: 0 });
  });
});
