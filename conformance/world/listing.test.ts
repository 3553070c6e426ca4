import { expect, test } from "vitest";
import { untilListed } from "./listing.ts";

const moved = (visibilityRealMs: number) => ({
  clock: { kind: "virtual" as const },
  tolerances: { visibilityRealMs },
});

/** How often the list was read, at most, until it showed the notification. */
const countLooks = async (options: Parameters<typeof untilListed>[0], listedAtLook: number) => {
  let looks = 0;
  await untilListed(options, () => {
    looks += 1;
    return Promise.resolve(looks >= listedAtLook);
  });
  return looks;
};

test("untilListed asks until the notification is listed", async () => {
  expect(await countLooks(moved(60_000), 3)).toBe(3);
});

test("untilListed asks once without a tolerance, and not at all in real time", async () => {
  expect(await countLooks(moved(0), 9)).toBe(1);
  expect(await countLooks({ ...moved(60_000), clock: { kind: "real" } }, 9)).toBe(0);
});

test("untilListed waits less after a few full waits in vain, not after one", async () => {
  // A stall of this process takes looks from a wait, and never adds any.
  const [seconds, laters]: [number[], number[]] = [[], []];
  for (let round = 0; round < 3; round += 1) {
    const options = moved(300);
    const looks: number[] = [];
    for (let wait = 0; wait < 4; wait += 1) looks.push(await countLooks(options, Infinity));
    seconds.push(...looks.slice(1, 2));
    laters.push(...looks.slice(3));
  }
  expect(Math.max(...seconds)).toBeGreaterThan(Math.max(...laters));
  expect(Math.min(...laters)).toBeGreaterThan(1);
});
