import { execFileSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** Grows the young generation, calls it, makes much more garbage, and prints the young generation's sizes in MiB. */
const program = `
  import v8 from "node:v8";
  import { keepHeapSmall } from ${JSON.stringify(path.join(import.meta.dirname, "heap.ts"))};
  const young = () =>
    v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 1_048_576;
  const work = () => {
    let kept = [];
    for (let n = 0; n < 200_000; n += 1) kept = n % 100_000 === 0 ? [] : (kept.push({ n: [n] }), kept);
  };
  work();
  const before = young();
  keepHeapSmall();
  const small = young();
  work();
  console.log(JSON.stringify({ before, small, after: young() }));
`;

describe("keepHeapSmall", () => {
  it("shrinks the young generation, which then does not grow again", () => {
    const printed = execFileSync(process.execPath, ["--input-type=module", "--eval", program], {
      encoding: "utf8",
    });
    const { before, small, after } = JSON.parse(printed) as Record<"before" | "small" | "after", number>;
    expect(small).toBeGreaterThanOrEqual(16);
    // Pages that are just being evacuated may count on top.
    expect(small).toBeLessThan(0.75 * before);
    expect(after).toBeLessThan(0.75 * before);
  });
});
