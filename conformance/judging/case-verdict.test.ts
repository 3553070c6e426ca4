import { expect, it } from "vitest";
import { allHold, fail, expectThat, pass, discard, inconclusive } from "./case-verdict.ts";

const breach = fail("right", "wrong");
const doubt = inconclusive("no control");
const aside = discard("inside the guard");

it("combines several judgements into the most serious one, in any order", () => {
  expect(allHold([])).toBe(pass);
  expect(allHold([pass, pass])).toBe(pass);
  for (const [parts, expected] of [
    [[pass, aside], aside],
    [[aside, doubt], doubt],
    [[doubt, breach, aside], breach],
  ] as const) {
    expect(allHold(parts)).toBe(expected);
    expect(allHold(parts.toReversed())).toBe(expected);
  }
});

it("describes what was seen only if the expectation fails", () => {
  expect(expectThat(true, "right", () => expect.unreachable())).toBe(pass);
  expect(expectThat(false, "right", "wrong")).toEqual(breach);
  expect(expectThat(false, "right", () => "wrong")).toEqual(breach);
});
