import { expect, it } from "vitest";
import type { Push } from "../../../../conformance/contract/push.ts";
import { push } from "../testing/stub-receiver.ts";
import { differencesOf } from "./difference.ts";

const pushOf = (body: string, more: Partial<Push> = {}): Push => {
  const bodySha256 = `${body.length}${body}`;
  return { ...(push({ notification: 1, atMs: 0, body, bodySha256, ...more }) as Push & { kind: "push" }) };
};

const withHeaders = (...lines: readonly string[]): Push =>
  pushOf("x", { headers: lines.map((line) => [line.slice(0, 1), line.slice(2)]) });

it.each([
  ["no difference between equal pushes", pushOf(`{"a":1}`), pushOf(`{"a":1}`), []],
  [
    "a changed, a removed and an added field, by JSON pointer",
    pushOf(`{"a":{"b/c":[1,2]},"gone":null}`),
    pushOf(`{"a":{"b/c":[1,3]},"new":"x"}`),
    [
      { where: "body/a/b~1c/1", before: "2", after: "3" },
      { where: "body/gone", before: "null" },
      { where: "body/new", after: '"x"' },
    ],
  ],
  [
    "headers by case-insensitive name, repeated ones together",
    withHeaders("A 1", "b 1", "B 2"),
    withHeaders("a 1", "b 1", "c 3"),
    [
      { where: "header b", before: "1, 2", after: "1" },
      { where: "header c", after: "3" },
    ],
  ],
  [
    "method and path",
    pushOf("x", { method: "POST", path: "/a" }),
    pushOf("x", { method: "PUT", path: "/b" }),
    [
      { where: "method", before: "POST", after: "PUT" },
      { where: "path", before: "/a", after: "/b" },
    ],
  ],
  [
    "another spelling of equal JSON, as the whole body",
    pushOf(`{"a":1}`),
    pushOf(`{ "a":1}`),
    [
      {
        where: "body",
        before: expect.stringContaining(`{"a":1}`),
        after: expect.stringContaining(`{ "a":1}`),
      },
    ],
  ],
  [
    "an array in place of an object",
    pushOf(`{"a":{}}`),
    pushOf(`{"a":[]}`),
    [{ where: "body/a", before: "{}", after: "[]" }],
  ],
] as const)("reports %s", (_, before, after, expected) => {
  expect(differencesOf(before, after)).toEqual(expected);
});
