import { expect, it } from "vitest";
import { endWithParent } from "./parent.ts";

it("ends the process once when its parent changes", () => {
  let [parent, ends] = [7, 0];
  let check = (): void => {};
  const every = (_: number, task: () => void) => {
    check = task;
    return () => {};
  };
  endWithParent({ every }, { parent: () => parent, end: () => (ends += 1) });
  check();
  expect(ends).toBe(0);
  parent = 1;
  check();
  check();
  expect(ends).toBe(1);
});
