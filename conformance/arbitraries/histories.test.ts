import fc from "fast-check";
import { expect, test } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import { histories, type History } from "./histories.ts";

const arbitrary = histories(documentLimits, 7_200_000, true, 40);
const printed = (history: History): readonly string[] => history.map(String);

test("a failing history shrinks to the relevant steps, and its path reproduces it", () => {
  const property = fc.property(arbitrary, (history) => {
    const steps = printed(history);
    const trigger = steps.indexOf("trigger an event");
    return !(trigger >= 0 && steps.slice(trigger).some((step) => step.startsWith("refresh with")));
  });
  const found = fc.check(property, { seed: 7, numRuns: 200 });
  const [shrunk] = found.counterexample ?? [];
  if (shrunk === undefined) throw new Error("nothing was found");
  expect(printed(shrunk)).toEqual(["trigger an event", "refresh with refresh token 0"]);

  const again = fc.check(property, { seed: 7, path: found.counterexamplePath ?? "", endOnFailure: true });
  expect(printed(again.counterexample?.[0] ?? [])).toEqual(printed(shrunk));
});
