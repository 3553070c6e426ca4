import { expect, test } from "vitest";
import { momentOf } from "../../contract/forms.ts";
import { notificationBreach, pageShapeBreach } from "./notification.ts";
import { madeNotification } from "../../testing/made.ts";

const item = madeNotification;

test("a notification needs all documented fields and may have more", () => {
  expect(notificationBreach({ ...item, Template: "x" })).toBe(undefined);
});

test.each([
  "2024-05-06T07:08:09.123Z",
  "2024-05-06T07:08:09,123+00:00",
  "2024-05-06T07:08:09.123+00",
  "20240506T070809.123Z",
  "20240506T070809,123+0000",
])("takes %s for the same moment", (text) => {
  expect(momentOf(text)).toBe(Date.UTC(2024, 4, 6, 7, 8, 9, 123));
  expect(notificationBreach({ ...item, createTime: text })).toBe(undefined);
});

test("takes the end of a day for the start of the next", () => {
  expect(momentOf("2023-12-31T24:00:00.000Z")).toBe(Date.UTC(2024, 0, 1));
});

test.each([
  [{ id: "1" }, 'it is "1"'],
  [{ accountId: undefined }, "it is missing"],
  [{ createTime: "2024-05-06T07:08:09Z" }, 'it is "2024-05-06T07:08:09Z"'],
  [{ createTime: "2024-13-06T07:08:09.123Z" }, 'it is "2024-13-06T07:08:09.123Z"'],
  [{ createTime: "20240506T07:08:09.123Z" }, 'it is "20240506T07:08:09.123Z"'],
  [{ createTime: "2024-05-06T07:08:09.123+01:00" }, 'it is "2024-05-06T07:08:09.123+01:00"'],
  [{ remark: null }, "it is null"],
  [{ data: {} }, "it is an object"],
  [{ status: 1 }, "it is 1"],
])("reports the wrong field of a notification with %o", (changes, actual) => {
  const [name = ""] = Object.keys(changes);
  expect(notificationBreach({ ...item, ...changes })).toMatchObject({
    expected: expect.stringContaining(`${name} of a notification`) as string,
    actual,
  });
});

test.each([
  [{ data: [item], total: 1 }, undefined],
  [{ data: [], total: 0 }, undefined],
  [{ data: null, total: 0 }, "it is null"],
  [{ data: [item], total: "1" }, 'it is "1"'],
  [{ data: [item], total: 0.5 }, "it is 0.5"],
  [{ data: [item], total: -1 }, "it is -1"],
  [{ data: [item, null], total: 2 }, "at data[1] it is null"],
  [{ data: [{ ...item, id: 7 }], total: 1 }, "at data[0] it is 7"],
])("reports the first part of a page that breaks its shape (case %#)", (fields, actual) => {
  expect(pageShapeBreach(fields)?.actual).toBe(actual);
});
