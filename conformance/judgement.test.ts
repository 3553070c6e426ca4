import { expect, it } from "vitest";
import { allHold, broke, expectThat, held, setAside, undecided } from "./judgement.ts";

const breach = broke("right", "wrong");
const doubt = undecided("no control");
const aside = setAside("inside the guard");

it("takes the gravest of several judgements, whatever their order", () => {
  expect(allHold([])).toBe(held);
  expect(allHold([held, held])).toBe(held);
  for (const [parts, expected] of [
    [[held, aside], aside],
    [[aside, doubt], doubt],
    [[doubt, breach, aside], breach],
  ] as const) {
    expect(allHold(parts)).toBe(expected);
    expect(allHold(parts.toReversed())).toBe(expected);
  }
});

it("tells what was seen only where something else was expected", () => {
  expect(expectThat(true, "right", () => expect.unreachable())).toBe(held);
  expect(expectThat(false, "right", "wrong")).toEqual(breach);
  expect(expectThat(false, "right", () => "wrong")).toEqual(breach);
});
