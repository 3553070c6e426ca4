import { describe, expect, it } from "vitest";
import { documentLimits } from "../../../conformance/contract/limits.ts";
import { instantsOf, readingsOf } from "../../../conformance/judging/pushes/readings.ts";
import { pushAt } from "../../../conformance/testing/push-runs.ts";
import { notificationBody } from "../../../conformance/testing/push-line.ts";
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
  };
  const { rules, ...rest } = judgePushes(evidence);
  return {
    ...rest,
    broken: rules.filter(({ breaches }) => breaches > 0).map(({ id }) => id),
    checks: Object.fromEntries(rules.map(({ id, checks }) => [id, checks])),
    notes: rules.flatMap(({ note }) => (note === undefined ? [] : [note])),
  };
};

/** Beside the traces that all drivers judge alike (conformance/judging/pushes/corpus.test.ts). */
describe("judgePushes", () => {
  it("finds no breach in a push that is acknowledged at once", () => {
    const judged = judge(pushes("a", [0.1], true));
    expect(judged.broken).toEqual([]);
    expect(judged.checks).toMatchObject({ "push.delivered": 1, "push.cap": 1, "push.acknowledged-stops": 1 });
  });

  it.each(readingsOf(documentLimits).filter(({ keepsCap }) => keepsCap))(
    "finds no breach in the schedule of $name",
    (reading) => {
      const judged = judge(
        pushes(
          "a",
          instantsOf(reading).map((ms) => ms / 1_000 + 0.05),
        ),
      );
      expect(judged.broken).toEqual([]);
      expect(judged.readings).toEqual([reading.name]);
      expect(judged.checks["push.schedule"]).toBe(reading.pushes - 1);
    },
  );

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

  it("notes events that were not watched long enough, and does not judge them", () => {
    const judged = judge(pushes("a", [0.1]), ["a", "b"], 8);
    expect(judged.broken).toEqual([]);
    expect(judged.checks["push.delivered"]).toBe(1);
    expect(judged.notes.join(" ")).toContain("1 events were not watched");
  });
});
