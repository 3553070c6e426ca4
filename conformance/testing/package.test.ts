import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { publint } from "publint";
import { beforeAll, describe, expect, it } from "vitest";
import { k6ForTests, k6WithinMs } from "../../scenarios/runner/testing/k6.ts";
import { emptyProject, ended, installOffline, pack, run } from "./installed.ts";
import type { LoadRecord } from "../contract/load-record.ts";
import { tool } from "../record/tool.ts";
import { root } from "./measure.ts";
import { filesBelow } from "./temporary-folder.ts";
import { folderOfFile } from "./folders.ts";

/** The package as its users get it: packed, put into an empty folder, and run from there. `npm run bench -- package` installs it from the registry. */

const folder = folderOfFile();
const module = path.join(folder, "module");
const commonjs = path.join(folder, "commonjs");
let contents: readonly string[];
let packedFile: string;

beforeAll(async () => {
  const packed = await pack(folder);
  ({ contents, file: packedFile } = packed);
  emptyProject(module, "module");
  await installOffline(module, packed);
  emptyProject(commonjs, "commonjs");
  symlinkSync(path.join(module, "node_modules"), path.join(commonjs, "node_modules"));
});
const touchstone = (cwd: string, parameters: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  ended(path.join(cwd, "node_modules/.bin/touchstone-harness"), parameters, {
    cwd,
    env: { CI: "", npm_config_user_agent: "npm", ...env },
  });

describe("the packed package", () => {
  it("contains the bundle, its types, schema, documents and third-party licences, but no sources or tests", () => {
    expect(contents).toEqual(
      expect.arrayContaining([
        "dist/cli.js",
        "dist/profile.js",
        "dist/profile.d.ts",
        "dist/profile.schema.json",
        "dist/receiver-page/page.js",
        "dist/receiver-page/page.css",
        "dist/scenarios/main.js",
        "dist/third-party-licences.txt",
        "docs/how-to/profile.md",
        "README.md",
        "CHANGELOG.md",
        "LICENSE",
      ]),
    );
    expect(contents.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file))).toEqual([]);
    const licences = readFileSync(path.join(root, "dist/third-party-licences.txt"), "utf8");
    expect(licences).toMatch(/^fastify 5\..*\n+MIT License/m);
  });

  it("passes publint", async () => {
    const { messages } = await publint({
      pack: { tarball: new Uint8Array(readFileSync(packedFile)).buffer },
      strict: true,
    });
    expect(messages).toEqual([]);
  });

  it("brings no Node, no program but its own, and with its dependencies takes at most 15 MB", () => {
    const modules = path.join(module, "node_modules");
    expect(readdirSync(path.join(modules, ".bin")).toSorted()).toEqual(["touchstone", tool.name]);
    const { dependencies, optionalDependencies, engines } = JSON.parse(
      readFileSync(path.join(modules, tool.name, "package.json"), "utf8"),
    ) as Record<string, unknown>;
    expect({ dependencies, optionalDependencies, engines }).toEqual({
      dependencies: { typebox: expect.any(String) as unknown },
      optionalDependencies: undefined,
      engines: { node: ">=22.19" },
    });
    const bytes = filesBelow(modules).map((file) => statSync(path.join(modules, file)).size);
    expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(15_000_000);
  });

  it("is refused by an older Node in one line", async () => {
    const older = path.join(module, "older.mjs");
    writeFileSync(
      older,
      `Object.defineProperty(process.versions, "node", { value: "22.18.0" });
       await import("./node_modules/${tool.name}/dist/cli.js");`,
    );
    expect(await ended(process.execPath, [older], { cwd: module })).toEqual({
      code: 2,
      stdout: "",
      stderr: "touchstone: this is Node 22.18.0; accepted is 22.19 or later; install a newer Node\n",
    });
  });

  it("has the same address and version in the manifest and in every example of the docs", () => {
    const { repository, homepage, bugs, version } = JSON.parse(
      readFileSync(path.join(root, "package.json"), "utf8"),
    ) as { repository: { url: string }; homepage: string; bugs: { url: string }; version: string };
    const [, address, place] = /^git\+(https:\/\/github\.com\/(.+))\.git$/.exec(repository.url) ?? [];
    expect([homepage, bugs.url]).toEqual([`${address}#readme`, `${address}/issues`]);
    const docs = path.join(root, "docs");
    const text = readdirSync(docs, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => readFileSync(path.join(docs, file), "utf8"))
      .join("");
    const named = (key: RegExp) => [...new Set(text.match(key))];
    expect(named(/(?<=- uses: )(?!actions\/)\S+/g)).toEqual([`${place}@v${version}`]);
    expect(named(/(?<=- component: \S+\/touchstone\/touchstone@)\S+/g)).toEqual([`v${version}`]);
  });

  it("gives types to defineProfile, so that a wrong key does not compile", async () => {
    const typed = (key: string) =>
      `import { defineProfile } from "touchstone-harness";
       export default defineProfile({
         baseUrl: "http://127.0.0.1:1", ${key}
         clients: [{ id: "c", secret: { env: "HOME" }, redirectUri: "https://c.example/" }],
       });`;
    writeFileSync(path.join(module, "right.mts"), typed(""));
    writeFileSync(path.join(module, "wrong.mts"), typed("tolerance: {},"));
    const tsc = path.join(root, "node_modules/typescript/bin/tsc");
    const flags = "--noEmit --strict --skipLibCheck --module nodenext right.mts wrong.mts".split(" ");
    const { code, stdout } = await ended(process.execPath, [tsc, ...flags], { cwd: module });
    expect(code).not.toBe(0);
    const errors = stdout.split("\n").filter((line) => line.includes("error"));
    expect(errors).toEqual([expect.stringMatching(/^wrong\.mts.*'tolerance' does not exist/)]);
  });
});

describe("an installed package", () => {
  it.each(["module", "commonjs"] as const)(
    "writes a profile that loads in a package of type %s, and names the next command",
    async (type) => {
      const cwd = path.join(folder, type);
      const init = await touchstone(cwd, ["init", "--base-url", "http://127.0.0.1:1"]);
      const file = type === "module" ? "touchstone.config.ts" : "touchstone.config.mts";
      expect(init).toMatchObject({ code: 0, stdout: `${file}\n` });
      expect(init.stderr).toContain(`npx touchstone-harness doctor --profile ${file}`);
      const doctor = await touchstone(cwd, ["doctor", "--profile", file], { CLIENT_1_SECRET: "x" });
      expect(doctor.stdout).toContain("http://127.0.0.1:1 cannot be reached");
      expect(doctor.code).toBe(4);
    },
  );

  it(
    "runs gate and load with one command, and writes the requested reports of both",
    async () => {
      const { path: k6 } = await k6ForTests();
      const asked = "run --fake --effort quick --only code.single-use,push.delivered --rate 20 --duration 2s";
      const places = "--out both --report junit,html --report-out reports --json";
      const job = await touchstone(commonjs, `${asked} ${places}`.split(" "), { TOUCHSTONE_K6: k6 });
      // A busy machine may leave the load incomplete or miss an objective, but the run exists and no rule is broken.
      expect([0, 1, 3]).toContain(job.code);
      const document = JSON.parse(job.stdout) as { exitCode: number; load: LoadRecord };
      expect(document.load.rules.filter(({ breaches }) => breaches > 0)).toEqual([]);
      expect(document).toMatchObject({
        exitCode: job.code,
        gate: { outcome: "passed", run: path.join("both", "gate") },
        load: { state: "sealed", run: path.join("both", "load") },
        reports: [path.join("reports", "junit.xml"), path.join("reports", "report.html")],
      });
      expect(readdirSync(path.join(commonjs, "both")).toSorted()).toEqual(["gate", "load"]);
      expect(readdirSync(path.join(commonjs, "reports")).toSorted()).toEqual(["junit.xml", "report.html"]);
      expect(readFileSync(path.join(commonjs, "reports/report.html"), "utf8")).toContain(
        "authorize.echoes-state",
      );
    },
    k6WithinMs,
  );

  it("prints the service's contract as it is checked in", async () => {
    const { stdout } = await touchstone(module, ["rules", "--openapi"]);
    expect(stdout).toBe(readFileSync(path.join(root, "conformance/contract/openapi.json"), "utf8"));
  });

  it("is run by npx under the package's name", async () => {
    const { stdout } = await run("npx", ["--offline", "touchstone-harness", "--version"], { cwd: module });
    expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });
});
