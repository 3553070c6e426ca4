import { expect, it, test } from "vitest";
import { isPromptUse, mayHaveEnded, reliedUntilMs, createOwnSession } from "./issue.ts";

const asked = (lifetimeMs: number) => ({ askedAtMs: 1_000_000, lifetimeMs });
const endedAfter = (lifetimeMs: number, ageMs: number) => mayHaveEnded(asked(lifetimeMs), 1_000_000 + ageMs);

it.each([
  [3_600_000, 3_240_000],
  [6_000, 4_000],
  [2_000, 0],
])("a credential that lives for %d ms is relied on for %d ms", (lifetimeMs, reliedMs) => {
  expect(reliedUntilMs(asked(lifetimeMs)) - 1_000_000).toBe(reliedMs);
  expect(endedAfter(lifetimeMs, Math.max(reliedMs, lifetimeMs / 2, 1_000) + 1)).toBe(true);
  expect(endedAfter(lifetimeMs, reliedMs)).toBe(false);
});

it("one that lives shortly must work at once, for half its life, and one of unknown lifetime for a second", () => {
  expect([1_000, 1_001].map((ageMs) => endedAfter(2_500, ageMs))).toEqual([false, true]);
  expect([400, 401].map((ageMs) => endedAfter(800, ageMs))).toEqual([false, true]);
  expect([1_000, 1_001].map((ageMs) => endedAfter(0, ageMs))).toEqual([false, true]);
});

it("its first use is prompt within a hundredth of its life, or within a second", () => {
  const isPrompt = (lifetimeMs: number, ageMs: number) => isPromptUse(asked(lifetimeMs), 1_000_000 + ageMs);
  expect([72_000, 72_001].map((ageMs) => isPrompt(7_200_000, ageMs))).toEqual([true, false]);
  expect([1_000, 1_001].map((ageMs) => isPrompt(5_000, ageMs))).toEqual([true, false]);
  expect([1_000, 1_001].map((ageMs) => isPrompt(0, ageMs))).toEqual([true, false]);
});

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
