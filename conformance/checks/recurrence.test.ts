import { expect, it } from "vitest";
import { hopelessness, watchRecurrence } from "./recurrence.ts";
import { newLosses, type Losses } from "../world/evidence/losses.ts";

/** A try in which these requests were lost, and the rest answered. */
const losing = (...lost: readonly string[]): Losses => {
  const losses = newLosses();
  for (const [index, path] of ["/a", "/b"].entries()) {
    const name = losses.begin({ method: "POST", path });
    if (lost.includes(path)) losses.note(name, { exchange: index, reason: "closed" });
  }
  return losses;
};

it("accepts an attempt in which no request was lost", () => {
  expect(watchRecurrence().stands(losing())).toBe(true);
});

it("attributes a loss to the service when the same request is lost three times in a row", () => {
  const recurrence = watchRecurrence();
  const stands = (losses: Losses): boolean => recurrence.stands(losses);
  expect([1, 2, 3].map(() => stands(losing("/a")))).toEqual([false, false, true]);
});

it("takes five closed connections in a row for the service's doing if the case was not judged, and three time-outs", () => {
  const recurrence = watchRecurrence();
  expect([1, 2, 3, 4, 5].map(() => recurrence.stands(losing("/a"), false))).toEqual([
    false,
    false,
    false,
    false,
    true,
  ]);
  const unanswered = watchRecurrence();
  const timedOut = (): Losses => {
    const losses = newLosses();
    losses.note(losses.begin({ method: "POST", path: "/a" }), { exchange: 1, reason: "timeout" });
    return losses;
  };
  expect([1, 2, 3].map(() => unanswered.stands(timedOut(), false))).toEqual([false, false, true]);
});

it("takes a 502 for the service's own only after five in a row, even if the case was judged by it", () => {
  const recurrence = watchRecurrence();
  const hidden = (): Losses => {
    const losses = newLosses();
    losses.note(losses.begin({ method: "POST", path: "/a" }), { exchange: 1, reason: "gateway" });
    return losses;
  };
  expect([1, 2, 3, 4, 5].map(() => recurrence.stands(hidden()))).toEqual([false, false, false, false, true]);
});

it("never attributes a loss to the service if the request was answered once", () => {
  const recurrence = watchRecurrence();
  const stands = (losses: Losses): boolean => recurrence.stands(losses);
  expect([losing("/b"), losing("/a"), losing("/a"), losing("/a")].map(stands)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});

it("does not accept an attempt in which another request was lost by the network", () => {
  const recurrence = watchRecurrence();
  const stands = (losses: Losses): boolean => recurrence.stands(losses);
  expect([losing("/a"), losing("/a"), losing("/a", "/b"), losing("/a")].map(stands)).toEqual([
    false,
    false,
    false,
    true,
  ]);
});

it("restarts its count if the control got no answer", () => {
  const recurrence = watchRecurrence();
  recurrence.stands(losing("/a"));
  recurrence.stands(losing("/a"));
  recurrence.forget();
  expect(recurrence.stands(losing("/a"))).toBe(false);
});

it("ignores losses that are already explained", () => {
  const losses = losing("/a");
  losses.ignoreLoss(0);
  expect(watchRecurrence().stands(losses)).toBe(true);
});

it("names requests by method, path and number, ignoring their query", () => {
  const losses = newLosses();
  expect(["/a?x=1", "/a?x=2", "/b"].map((path) => losses.begin({ method: "GET", path }))).toEqual([
    "GET /a 1",
    "GET /a 2",
    "GET /b 1",
  ]);
});

it("gives up at once if nothing listens or the service keeps throttling, otherwise after eight attempts", () => {
  const refused = newLosses();
  refused.note("GET /a 1", { exchange: 1, reason: "refused" });
  expect(hopelessness(refused, 1)).toMatchObject({
    reason: expect.stringContaining("nothing listens") as string,
  });
  const throttled = newLosses();
  throttled.note("GET /a 1", { exchange: 1, reason: "throttled" });
  expect(hopelessness(throttled, 1)).toMatchObject({
    reason: expect.stringContaining("retry later") as string,
  });
  expect([7, 8].map((tries) => hopelessness(losing("/a"), tries) === undefined)).toEqual([true, false]);
});

it("takes no further try of an undecided case whose request the run knows to get no answer, and all of a decided one", () => {
  const losses = newLosses();
  losses.note(losses.begin({ method: "GET", path: "/a" }), {
    exchange: 1,
    reason: "closed",
    isNeverAnswered: true,
  });
  expect(watchRecurrence().stands(losses, false)).toBe(true);
  expect(watchRecurrence().stands(losses, true)).toBe(false);
  losses.note(losses.begin({ method: "GET", path: "/b" }), { exchange: 2, reason: "closed" });
  expect(watchRecurrence().stands(losses, false)).toBe(false);
});
