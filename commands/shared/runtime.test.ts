import path from "node:path";
import { expect, it, describe } from "vitest";
import { startModule } from "../../conformance/testing/start-cli.ts";
import { isRecentEnough, oldestNode, runOnBroughtNode } from "./runtime.ts";
import { execFileSync } from "node:child_process";

it.each([
  [oldestNode.join("."), true],
  [`${oldestNode.join(".")}.0`, true],
  ["25.0.0", true],
  ["100.1.0", true],
  ["24.14.9", false],
  ["23.99.0", false],
  ["20.19.0", false],
  ["", false],
])("isRecentEnough of Node %s is %s", (version, expected) => {
  expect(isRecentEnough(version)).toBe(expected);
});

it("does not start another Node if this one is recent enough", async () => {
  expect(await runOnBroughtNode(["node", "nowhere.js"])).toBe(undefined);
});

it("returns the exit code and output of a command that runs on another Node", async () => {
  const here = (file: string) => JSON.stringify(path.join(import.meta.dirname, file));
  const { closed, said } = startModule(
    `import { runOn } from ${here("runtime.ts")};
    process.exitCode = await runOn(process.execPath, ["node", ${here("../../cli.ts")}, "rules", "code.nothing"]);`,
  );
  expect(await closed).toBe(2);
  expect(said().stderr).toContain("code.nothing");
});

/** Makes much garbage, after calling it or not, and prints the young generation's sizes before and after in MiB. */
const sizes = (call: "keepHeapSmall()" | ""): { readonly before: number; readonly after: number } => {
  const program = `
    import v8 from "node:v8";
    import { keepHeapSmall } from ${JSON.stringify(path.join(import.meta.dirname, "runtime.ts"))};
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
