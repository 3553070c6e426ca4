import { execFileSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";

/** Makes much garbage, after calling it or not, and prints the young generation's sizes before and after in MiB. */
const sizes = (call: "keepHeapSmall()" | ""): { readonly before: number; readonly after: number } => {
  const program = `
    import v8 from "node:v8";
    import { keepHeapSmall } from ${JSON.stringify(path.join(import.meta.dirname, "heap.ts"))};
    const young = () =>
      v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 1_048_576;
    const work = () => {
      let kept = [];
      for (let n = 0; n < 400_000; n += 1) kept = n % 100_000 === 0 ? [] : (kept.push({ n: [n] }), kept);
    };
    ${call};
    const before = young();
    work();
    console.log(JSON.stringify({ before, after: young() }));
  `;
  const given = ["--input-type=module", "--eval", program];
  return JSON.parse(execFileSync(process.execPath, given, { encoding: "utf8" })) as ReturnType<typeof sizes>;
};

describe("keepHeapSmall", () => {
  it("lets the young generation grow at once, and then no more", () => {
    const { before, after } = sizes("keepHeapSmall()");
    expect(before).toBeGreaterThanOrEqual(16);
    // Pages that are just being evacuated may count on top.
    expect(after).toBeLessThan(2 * before);
    expect(after).toBeLessThan(0.75 * sizes("").after);
  });
});
