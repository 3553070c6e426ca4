import { describe, expect, it } from "vitest";
import { push, type Unnumbered, uuid } from "../testing/stub-receiver.ts";
import { everything, select } from "./filter.ts";
import { type Bounds, bounds, createStore, isAcknowledged } from "./store.ts";

const filled = (lines: readonly Unnumbered[], limits: Bounds = bounds, epoch = "one") => {
  const store = createStore(limits);
  const started: Unnumbered = { kind: "started", at: "2026-03-01T09:00:00.000Z", atMs: 100 };
  for (const [index, line] of [started, ...lines].entries()) {
    store.add({ ...line, n: index + 1, epoch });
  }
  return store;
};

const startOfDay = Date.parse("2026-03-01T09:00:00.000Z");

describe("the page's store", () => {
  it("groups pushes by notification, at wall-clock times", () => {
    const store = filled([
      push({ notification: 1, atMs: 100, status: 500 }),
      push({ notification: 2, atMs: 200 }),
      push({ notification: 1, atMs: 30_100 }),
    ]);
    const [first, second] = store.notifications.values();
    expect(first?.id).toBe(uuid("5eed", 1));
    expect(first?.attempts.map(({ startMs }) => startMs - startOfDay)).toEqual([0, 30_000]);
    expect(first?.attempts.map(isAcknowledged)).toEqual([false, true]);
    expect(second?.attempts).toHaveLength(1);
    expect(store.counts).toMatchObject({ pushes: 3, last: 4 });
  });

  it("adds each line once", () => {
    const store = filled([push({ notification: 1, atMs: 1 })]);
    store.add({ ...push({ notification: 1, atMs: 1 }), n: 2, epoch: "one" });
    expect(store.counts.pushes).toBe(1);
  });

  it("does not count an answer that the sender abandoned as an acknowledgement", () => {
    const store = filled([push({ notification: 1, atMs: 1, outcome: "abandoned" })]);
    expect([...store.notifications.values()].flatMap(({ attempts }) => attempts.map(isAcknowledged))).toEqual(
      [false],
    );
  });

  it("removes its rows and adds a remark when the receiver is cleared", () => {
    const store = filled([push({ notification: 1, atMs: 1 }), { kind: "cleared", atMs: 2 }]);
    expect(store.notifications.size).toBe(0);
    expect(store.remarks.map(({ kind }) => kind)).toEqual(["started", "cleared"]);
  });

  it("drops the oldest rows, counts further pushes and cuts long texts at its limits", () => {
    const many = Array.from({ length: 10 }, (_, k) => push({ notification: k, atMs: k }));
    const again = Array.from({ length: 5 }, (_, k) => push({ notification: 9, atMs: 100 + k }));
    const long = push({ notification: 1, atMs: 200, notificationId: "x".repeat(1_000_000) });
    const store = filled([...many, ...again, long], { notifications: 3, attempts: 4, remarks: 1, open: 1 });
    const rows = [...store.notifications.values()];
    expect(rows.map(({ number }) => number)).toEqual([9, 10, 11]);
    expect(rows[1]).toMatchObject({ more: 2 });
    expect(rows[1]?.attempts).toHaveLength(4);
    expect(rows[2]?.id).toHaveLength(120);
    expect(store.counts.dropped).toBe(8);
  });

  it("gives a request without a notification id a row of its own", () => {
    const { notificationId, ...rest } = push({
      notification: 1,
      atMs: 1,
      method: "GET",
      body: "[",
    }) as Record<string, unknown>;
    const [row] = filled([rest as Unnumbered]).notifications.values();
    expect(row).toMatchObject({ id: undefined, summary: "GET /service/webhook" });
    expect(notificationId).toBe(uuid("5eed", 1));
  });
});

describe("the page's filter", () => {
  const { notifications } = filled([
    push({ notification: 1, atMs: 1, status: 503 }),
    push({ notification: 2, atMs: 2 }),
    push({ notification: 9, atMs: 3 }),
  ]);
  const numbers = (filter: object) =>
    select(notifications.values(), { ...everything, ...filter }).map(({ number }) => number);

  it("sorts by newest or by oldest first", () => {
    expect(numbers({})).toEqual([3, 2, 1]);
    expect(numbers({ newestFirst: false })).toEqual([1, 2, 3]);
  });

  it("requires every word, in any case", () => {
    expect(numbers({ text: "503 createglobal" })).toEqual([1]);
    expect(numbers({ text: "503 nothing" })).toEqual([]);
  });

  it("filters by account and by missing acknowledgement", () => {
    expect(numbers({ account: uuid("acc", 2).toUpperCase() })).toEqual([3, 2]);
    expect(numbers({ onlyUnacknowledged: true })).toEqual([1]);
  });
});
