import { expect, test } from "vitest";
import { heavy, inherited, notJson, notTheObject, repeatedKeys, type BadBody } from "./bodies.ts";

const right = { clientId: "shop", clientSecret: "s3cret", code: "abcdefgh" };

const parsed = ({ write }: BadBody): unknown => {
  try {
    return JSON.parse(write(right));
  } catch {
    return undefined;
  }
};

test.each(notJson)("$name is not JSON", (body) => {
  expect(parsed(body)).toBe(undefined);
});

test.each([...notTheObject, ...inherited].filter(({ name }) => !name.startsWith("no body")))(
  "$name is JSON without all correct fields as its own properties",
  (body) => {
    const value = parsed(body);
    expect(value).not.toBe(undefined);
    const own = (name: string): unknown =>
      typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
        ? (value as Record<string, unknown>)[name]
        : undefined;
    expect(Object.entries(right).every(([name, field]) => own(name) === field)).toBe(false);
  },
);

test.each(["clientId", "clientSecret", "code"])("repeatedKeys writes %s twice in one body", (name) => {
  for (const { write } of repeatedKeys(name)) {
    const text = write(right);
    expect(text.split(`"${name}":`)).toHaveLength(3);
    expect(JSON.parse(text)).toHaveProperty(name);
  }
});

test.each(heavy)("$name is large and not a correct request", (body) => {
  expect(body.write(right).length).toBeGreaterThan(20_000);
  expect(parsed(body)).not.toMatchObject(right);
});
