import { expect, it } from "vitest";
import { createSolo } from "./solo.ts";

/** A case or task that lasts until it is ended, and notes when it begins and ends. */
const lasting = (seen: string[], name: string) => {
  let end = (): void => undefined;
  const lasts = new Promise<void>((resolve) => (end = resolve));
  const play = async (): Promise<void> => {
    seen.push(`${name} begins`);
    await lasts;
    seen.push(`${name} ends`);
  };
  return { play, end: () => end() };
};

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

it("plays a task alone once no case plays any more, and cases that come meanwhile after it", async () => {
  const seen: string[] = [];
  const solo = createSolo();
  const [one, other, late] = ["one", "other", "late"].map((name) => lasting(seen, name));
  const [first, second] = ["first task", "second task"].map((name) => lasting(seen, name));
  const all = [
    solo.together(() => one?.play() ?? Promise.resolve()),
    solo.together(() => other?.play() ?? Promise.resolve()),
    solo.alone(() => first?.play() ?? Promise.resolve()),
    solo.alone(() => second?.play() ?? Promise.resolve()),
  ];
  await turns();
  expect(seen).toEqual(["one begins", "other begins"]);
  one?.end();
  await turns();
  expect(seen).not.toContain("first task begins");
  other?.end();
  await turns();
  expect(seen.at(-1)).toBe("first task begins");
  all.push(solo.together(() => late?.play() ?? Promise.resolve()));
  for (const lasts of [first, second, late]) {
    await turns();
    lasts?.end();
  }
  await Promise.all(all);
  expect(seen.slice(4)).toEqual([
    "first task begins",
    "first task ends",
    "second task begins",
    "second task ends",
    "late begins",
    "late ends",
  ]);
});

it("goes on after a task that fails", async () => {
  const solo = createSolo();
  await expect(solo.alone(() => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
  expect(await solo.together(() => Promise.resolve("played"))).toBe("played");
});
