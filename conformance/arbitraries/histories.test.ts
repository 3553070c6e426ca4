import fc from "fast-check";
import { expect, test } from "vitest";
import { documentLimits } from "../contract/limits.ts";
import { copyOf, histories, type History } from "./histories.ts";

const arbitrary = histories(documentLimits, 7_200_000, true, 40);
const printed = (history: History): readonly string[] => [...history].map(String);

test("histories are long enough for deep states", () => {
  const lengths = fc.sample(arbitrary, { seed: 1, numRuns: 100 }).map((history) => printed(history).length);
  expect(Math.max(...lengths)).toBeGreaterThan(35);
  expect(lengths.filter((length) => length > 15).length).toBeGreaterThan(40);
});

test("running the copy of a history leaves no trace in it", async () => {
  const [history] = fc.sample(arbitrary, { seed: 3, numRuns: 1 });
  if (history === undefined) throw new Error("no history");
  for (const command of copyOf(history)) await command.run(undefined as never, undefined);
  expect([...history].filter((command) => "hasRan" in command && command.hasRan === true)).toEqual([]);
});

test("a failing history shrinks to the steps that matter, and its path gives the same one again", () => {
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
