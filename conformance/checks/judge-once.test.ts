import { describe, expect, it } from "vitest";
import { hopelessness, watchRecurrence } from "./judge-once.ts";
import { newLosses, type Loss, type Losses } from "../world/evidence/journal.ts";

/** A try in which these requests were lost in this way, and the rest of two answered. */
const losing = (lost: string, loss: Partial<Loss> = {}): Losses => {
  const losses = newLosses();
  for (const path of ["/a", "/b"]) {
    const name = losses.begin({ method: "POST", path });
    if (lost.includes(path)) losses.note(name, { exchange: 0, reason: "closed", ...loss });
  }
  return losses;
};

describe("tries of one case", () => {
  const never = { isNeverAnswered: true } as const;
  const [no, yes] = [false, true];

  it.each<readonly [string, readonly string[], Partial<Loss>, boolean, readonly boolean[]]>([
    ["stand at once if nothing was lost", [""], {}, yes, [yes]],
    ["stand if one request is lost three times in a row", ["/a", "/a", "/a"], {}, yes, [no, no, yes]],
    [
      "stand after five closed connections if the case was not judged",
      ["/a", "/a", "/a", "/a", "/a"],
      {},
      no,
      [no, no, no, no, yes],
    ],
    [
      "stand after three time-outs although the case was not judged",
      ["/a", "/a", "/a"],
      { reason: "timeout" },
      no,
      [no, no, yes],
    ],
    [
      "stand after five answers of a gateway, even if the case was judged by them",
      ["/a", "/a", "/a", "/a", "/a"],
      { reason: "gateway" },
      yes,
      [no, no, no, no, yes],
    ],
    ["never stand if the request was answered once", ["/b", "/a", "/a", "/a"], {}, yes, [no, no, no, no]],
    [
      "do not stand while the network loses another request",
      ["/a", "/a", "/a /b", "/a"],
      {},
      yes,
      [no, no, no, yes],
    ],
    ["stand if not judged, and the run knows that the request gets no answer", ["/a"], never, no, [yes]],
    ["do not stand for that if judged", ["/a"], never, yes, [no]],
  ])("%s", (_, tries, loss, isJudged, expected) => {
    const recurrence = watchRecurrence();
    expect(tries.map((lost) => recurrence.stands(losing(lost, loss), isJudged))).toEqual(expected);
  });

  it("do not stand if only one of two lost requests is known to get no answer", () => {
    const losses = losing("/a", never);
    losses.note(losses.begin({ method: "GET", path: "/c" }), { exchange: 2, reason: "closed" });
    expect(watchRecurrence().stands(losses, false)).toBe(false);
  });

  it("are counted from the start if the control got no answer", () => {
    const recurrence = watchRecurrence();
    recurrence.stands(losing("/a"));
    recurrence.stands(losing("/a"));
    recurrence.forget();
    expect(recurrence.stands(losing("/a"))).toBe(false);
  });

  it("stand despite losses that are already explained", () => {
    const losses = losing("/a");
    losses.ignoreLoss(0);
    expect(watchRecurrence().stands(losses)).toBe(true);
  });

  it("end at once if nothing listens or the service keeps throttling, otherwise after eight", () => {
    const reasonOf = (reason: Loss["reason"]) => hopelessness(losing("/a", { reason }), 1);
    expect(reasonOf("refused")).toMatchObject({
      reason: expect.stringContaining("nothing listens") as string,
    });
    expect(reasonOf("throttled")).toMatchObject({ reason: expect.stringContaining("retry later") as string });
    expect([7, 8].map((tries) => hopelessness(losing("/a"), tries) === undefined)).toEqual([true, false]);
  });
});

it("requests are named by method, path and number, without their query", () => {
  const losses = newLosses();
  expect(["/a?x=1", "/a?x=2", "/b"].map((path) => losses.begin({ method: "GET", path }))).toEqual([
    "GET /a 1",
    "GET /a 2",
    "GET /b 1",
  ]);
});
