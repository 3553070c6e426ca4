import { execFile, type ExecFileOptions } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { publint } from "publint";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { k6ForTests, k6WithinMs } from "../../scenarios/runner/testing/k6.ts";
import { root } from "./measure.ts";

/** The package as its users get it: packed, installed into an empty folder, and run from there. */

const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-package-"));
/** Nothing compiled is kept: the package lies elsewhere each time, so that no later run could use it. */
const run = (command: string, parameters: readonly string[], options: ExecFileOptions) =>
  promisify(execFile)(command, parameters, {
    ...options,
    encoding: "utf8",
    env: { ...process.env, ...options.env, NODE_COMPILE_CACHE: undefined },
  });
let contents: readonly string[];

beforeAll(async () => {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("["))) as {
    filename: string;
    files: { path: string }[];
  }[];
  if (packed === undefined) throw new Error("npm pack told of no package");
  contents = packed.files.map((file) => file.path);
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run(
    "npm",
    ["install", "--no-audit", "--no-fund", "--prefer-offline", path.join(folder, packed.filename)],
    {
      cwd: folder,
    },
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the packed package", () => {
  it("holds the bundle, its types and the papers, and no sources or tests", () => {
    expect(contents).toEqual(
      expect.arrayContaining(["dist/cli.js", "dist/profile.js", "dist/profile.d.ts", "README.md", "LICENSE"]),
    );
    expect(contents.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
  });

  it("is put together as its users' tools expect", async () => {
    const { messages } = await publint({ pkgDir: root, strict: true });
    expect(messages).toEqual([]);
  });

  it("holds the receiver's page, ready to be served", () => {
    expect(contents).toEqual(
      expect.arrayContaining(["dist/receiver-page/index.html", "dist/receiver-page/page.js"]),
    );
  });

  it("holds the load scripts, bundled for k6", () => {
    expect(contents).toContain("dist/scenarios/main.js");
  });

  it("runs the gate from the folder that it was installed into, and writes its record there", async () => {
    const { stdout } = await run(
      "npx",
      ["touchstone", "conform", "--json", "--effort", "quick", "--section", "code,notifications"],
      {
        cwd: folder,
      },
    );
    expect(JSON.parse(stdout)).toMatchObject({ outcome: "passed", exitCode: 0 });
    const [directory = ""] = readdirSync(path.join(folder, "runs"));
    expect(JSON.parse(readFileSync(path.join(folder, "runs", directory, "run.json"), "utf8"))).toMatchObject({
      state: "sealed",
      outcome: "passed",
    });
  });

  it(
    "loads the embedded service from there, and reports of the run",
    async () => {
      const { path: k6 } = await k6ForTests();
      const installed = { cwd: folder, env: { ...process.env, CI: "", TOUCHSTONE_K6: k6 } };
      const touchstone = (...parameters: readonly string[]) =>
        run("npx", ["touchstone", ...parameters], installed);
      const asked = ["--scenario", "token", "--rate", "20", "--duration", "2s", "--out", "load"];
      const load = await touchstone("load", ...asked, "--json").then(
        ({ stdout }) => ({ code: 0, stdout }),
        (error: { code: number; stdout: string }) => error,
      );
      // A machine that is busy otherwise may leave the load incomplete; the run is there all the same.
      expect([0, 3]).toContain(load.code);
      expect(JSON.parse(load.stdout)).toMatchObject({ command: "load", state: "sealed", scenario: "token" });
      await touchstone("report", "load", "--report", "html,junit", "--out", "reports");
      expect(readdirSync(path.join(folder, "reports")).toSorted()).toEqual(["junit.xml", "report.html"]);
      expect(readFileSync(path.join(folder, "reports", "report.html"), "utf8")).toContain(
        "authorize.echoes-state",
      );
    },
    k6WithinMs,
  );

  it("lets a profile in TypeScript import defineProfile", async () => {
    writeFileSync(
      path.join(folder, "touchstone.config.ts"),
      `import { defineProfile } from "touchstone-harness";
       export default defineProfile({
         baseUrl: "http://127.0.0.1:1",
         clients: [{ id: "c", secret: { env: "HOME" }, redirectUri: "https://c.example/" }],
       });`,
    );
    const doctor = run("npx", ["touchstone", "doctor", "--profile", "touchstone.config.ts"], { cwd: folder });
    await expect(doctor).rejects.toMatchObject({
      code: 4,
      stdout: expect.stringContaining("cannot be reached"),
    });
  });
});
