import { expect, it } from "vitest";
import { endWithParent } from "./parent.ts";

it("ends once, when the parent changes", () => {
  let [parent, ends] = [7, 0];
  let look = (): void => {};
  const every = (_: number, task: () => void) => {
    look = task;
    return () => {};
  };
  endWithParent({ every }, { parent: () => parent, end: () => (ends += 1) });
  look();
  expect(ends).toBe(0);
  parent = 1;
  look();
  look();
  expect(ends).toBe(1);
});
