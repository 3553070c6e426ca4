import { afterEach, expect, test } from "vitest";
import { openNotificationStore, type StoredNotification } from "./notifications.ts";
import { madeNotification } from "../conformance/testing/made.ts";

const store = openNotificationStore();
afterEach(() => store.clear());

const notification = (id: string, accountId = "account"): StoredNotification => ({
  ...madeNotification,
  id,
  accountId,
  owner: "",
});
const all = { where: "TRUE", parameters: [], orderBy: "sequence" };
const of = (accountId: string) => ({ where: "accountId = ?", parameters: [accountId], orderBy: "sequence" });

test("an added notification is counted and read back without its owner", () => {
  store.add(notification("a"));
  const { owner: _, ...shown } = notification("a");
  expect(store.count(all)).toBe(1);
  expect(store.read(all, 0, 10)).toEqual([shown]);
});

test("the next read sees a write, with and without a filter", () => {
  store.add(notification("a", "one"));
  expect([store.count(all), store.count(of("one")), store.count(of("two"))]).toEqual([1, 1, 0]);
  store.add(notification("b", "two"));
  expect([store.count(all), store.count(of("one")), store.count(of("two"))]).toEqual([2, 1, 1]);
  expect(store.read(of("two"), 0, 10).map(({ id }) => id)).toEqual(["b"]);
});

test("pages start at the requested offset, however large", () => {
  for (const id of ["a", "b", "c", "d", "e"]) store.add(notification(id));
  const offsets = [0, 2, 4, 6, Number.MAX_SAFE_INTEGER];
  const pages = offsets.map((offset) => store.read(all, offset, 2).map(({ id }) => id));
  expect(pages).toEqual([["a", "b"], ["c", "d"], ["e"], [], []]);
});

test("filter values are never interpreted as SQL", () => {
  store.add(notification("a", "one"));
  expect(store.count(of("one' OR 'a'='a"))).toBe(0);
  expect(store.count(of("%"))).toBe(0);
});
