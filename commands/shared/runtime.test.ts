import path from "node:path";
import { expect, it } from "vitest";
import { startModule } from "../../conformance/testing/start-cli.ts";
import { isRecentEnough, oldestNode, runOnBroughtNode } from "./runtime.ts";

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
