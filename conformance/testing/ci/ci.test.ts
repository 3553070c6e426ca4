import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { beforeAll, describe, expect, it } from "vitest";
import { profileOf, secretsOf } from "../../../fake-server/serve.ts";
import { startFakeServer } from "../../../fake-server/index.ts";
import { exitCodes } from "../../contract/exit-codes.ts";
import { reportFiles } from "../../../reports/formats.ts";
import { ended, installCheckout } from "../installed.ts";
import { root } from "../measure.ts";
import { playAction } from "./action.ts";
import { stopAfterAll } from "../stopping.ts";
import { folderOfFile } from "../folders.ts";

/** The action and the template, run step by step as their services would; `npm run bench -- ci` checks and runs them with third-party tools. */

const workspace = folderOfFile();
const fake = await stopAfterAll()(startFakeServer({ behaviour: "exchange-without-expires-in" }));
beforeAll(() => {
  writeFileSync(path.join(workspace, "gate.json"), JSON.stringify(profileOf(fake)));
  installCheckout(workspace);
});

const secrets = (): NodeJS.ProcessEnv => ({ ...process.env, ...secretsOf(fake), npm_config_offline: "true" });
const quick = "--effort quick --only exchange.token-set";
const at = (...names: readonly string[]) => path.join(workspace, ...names);

describe("the GitHub action", () => {
  it("fails if a promise is broken, and shows it in outputs, annotations, summary, artifact and reports", async () => {
    const asked = { profile: "gate.json", command: "conform", args: quick, directory: "red folder" };
    const played = await playAction(workspace, asked, secrets());
    const report = "red folder/report/report.html";
    expect(played.outputs).toEqual({ outcome: "failed", "exit-code": "1", report });
    expect(played.succeeded).toBe(false);
    expect(played.stdout).toMatch(/^::error title=exchange\.token-set is broken::/m);
    expect(played.summary).toContain("exchange.token-set");
    for (const file of [report, "red folder/report/junit.xml", "red folder/runs/run.json"])
      expect([file, existsSync(at(file))]).toEqual([file, true]);
    // The gate alone needs no k6, so none is kept.
    expect(played.called.map(({ uses, with: { path: what } }) => [uses.split("@")[0], what])).toEqual([
      ["actions/upload-artifact", "red folder"],
    ]);
  });

  it("ends with exit code 2 for a mistake, and runs no input as a command", async () => {
    const profile = '$(touch hacked); "`touch hacked`.json';
    const played = await playAction(workspace, { profile, directory: "wrong" }, secrets());
    expect(played.outputs).toEqual({ outcome: "usage", "exit-code": "2", report: "" });
    expect(played.succeeded).toBe(false);
    expect(played.stderr).toContain(profile);
    expect(existsSync(at("hacked"))).toBe(false);
    expect(played.called.map(({ uses }) => uses.split("@")[0])).toEqual([
      "actions/cache",
      "actions/upload-artifact",
    ]);
  });

  it("names every exit code", () => {
    const { runs } = parse(readFileSync(path.join(root, "action.yml"), "utf8")) as {
      runs: { steps: { id?: string; run?: string }[] };
    };
    const script = runs.steps.find(({ id }) => id === "touchstone")?.run ?? "";
    const named = [...script.matchAll(/^\s*(\d+|\*)\) outcome=([\w-]+) ;;$/gm)].map(([, code, name]) => [
      name,
      code === "*" ? exitCodes["harness-error"] : Number(code),
    ]);
    expect(Object.fromEntries(named)).toEqual(exitCodes);
  });
});

describe("the GitLab template", () => {
  interface Job {
    readonly variables: Readonly<Record<string, string>>;
    readonly script: readonly string[];
    readonly artifacts: {
      readonly paths: readonly string[];
      readonly reports: Readonly<Record<string, string>>;
    };
  }
  interface Spec {
    readonly spec: { readonly inputs: Readonly<Record<string, { readonly default: string }>> };
  }

  /** The job of the template with these inputs, as GitLab makes it. */
  const jobWith = (given: Readonly<Record<string, string>>): Job => {
    const text = readFileSync(path.join(root, "templates/touchstone.yml"), "utf8");
    const [header] = parseAllDocuments(text).map((document) => document.toJS() as unknown);
    const { spec } = header as Spec;
    const made = text.replaceAll(/\$\[\[ inputs\.(\w+) \]\]/g, (_, name: string) => {
      const value = given[name] ?? spec.inputs[name]?.default;
      if (value === undefined) throw new Error(`no input ${name}`);
      return value === "" ? '""' : value;
    });
    const jobs = parseAllDocuments(made)[1]?.toJS() as Readonly<Record<string, Job>>;
    const [job] = Object.values(jobs);
    if (job === undefined) throw new Error("the template has no job");
    return job;
  };

  it("runs the command of its inputs, and writes reports where GitLab expects them", async () => {
    const job = jobWith({ profile: "gate.json", command: "conform", args: quick });
    const variables = { ...job.variables, TOUCHSTONE_CACHE: undefined };
    const { code, stdout } = await ended("sh", ["-ec", job.script.join("\n")], {
      cwd: workspace,
      env: { ...secrets(), ...variables, CI: "true", GITLAB_CI: "true", CI_PROJECT_DIR: workspace },
    });
    expect(code, stdout).toBe(exitCodes.failed);
    const files = Object.values(job.artifacts.reports);
    expect(files).toEqual(
      [reportFiles.junit, reportFiles.codequality].map((name) => `touchstone/report/${name}`),
    );
    const [junit = "", quality = ""] = files.map((file) => readFileSync(at(file), "utf8"));
    expect(junit).toContain('name="exchange.token-set"');
    expect(JSON.parse(quality)).toMatchObject([
      { check_name: "gate exchange.token-set", location: { path: "gate.json" } },
    ]);
    expect(existsSync(at("touchstone/report/report.html"))).toBe(true);
  });
});
