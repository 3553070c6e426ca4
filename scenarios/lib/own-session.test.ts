import { expect, test } from "vitest";
import { createOwnSession } from "./own-session.ts";

interface Login {
  readonly client: string;
  isOver: boolean;
}

const login = (client: string): Login => ({ client, isOver: false });
const isOver = (session: Login): boolean => session.isOver;
const works = (client: string | undefined): Login => login(client ?? "any");
const fails = (): undefined => undefined;

test("a virtual user keeps its client, even if a login in between fails", () => {
  const own = createOwnSession(isOver);
  const first = own({ prepared: () => login("b"), logIn: works });
  const others = { prepared: () => login("a") };
  expect(own({ ...others, logIn: works })).toBe(first);
  if (first !== undefined) first.isOver = true;
  expect(own({ ...others, logIn: fails })).toBeUndefined();
  expect(own({ ...others, logIn: works })?.client).toBe("b");
});

test("one whose client could not log in before the load logs in with any", () => {
  const own = createOwnSession(isOver);
  expect(own({ prepared: fails, logIn: fails })).toBeUndefined();
  expect(own({ prepared: fails, logIn: works })?.client).toBe("any");
});
