import { expect, it } from "vitest";
import { endWithParent } from "./parent.ts";

const watched = () => {
  let [parent, interruptions] = [7, 0];
  let look = (): void => {};
  const interruption = new AbortController();
  endWithParent(
    {
      every: (_, task) => {
        look = task;
        return () => {};
      },
    },
    {
      parent: () => parent,
      interruption: interruption.signal,
      interrupt: () => {
        interruptions += 1;
        interruption.abort();
      },
    },
  );
  return {
    interruption,
    interruptions: () => interruptions,
    look: () => look(),
    orphan: () => (parent = 1),
  };
};

it("interrupts the process once when its parent changes", () => {
  const process = watched();
  process.look();
  expect(process.interruptions()).toBe(0);
  process.orphan();
  process.look();
  process.look();
  expect(process.interruptions()).toBe(1);
});

it("leaves a process alone that was interrupted before", () => {
  const process = watched();
  process.orphan();
  process.interruption.abort();
  process.look();
  expect(process.interruptions()).toBe(0);
});
