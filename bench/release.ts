import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tool } from "../conformance/record/tool.ts";
import { emptyProject, ended, run } from "../conformance/testing/installed.ts";
import { figure, root } from "../conformance/testing/measure.ts";
import { freePort } from "../conformance/testing/servers.ts";
import { startProgram } from "../conformance/testing/start-cli.ts";
import { playJob } from "../conformance/testing/ci/action.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

const REGISTRY = "verdaccio@6.10.4";
/** It requires this version by a tag that not every mirror of npm's registry has. */
const overrides = { "node-fetch": "2.7.0" };
const version = `v${tool.version}`;

/**
 * Runs the release workflow step by step in a fresh clone, with a registry on loopback instead of npm's. Omits `npm
 * test`, which is a long run of its own; provenance is tested only in a dry run, because only GitHub's own runners have
 * the identity that signs it.
 */
export const release = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const registry = await startRegistry(path.join(folder, "registry"));
  try {
    const clone = path.join(folder, "clone");
    await run("git", ["clone", "--quiet", root, clone], {});
    const play = async (
      name: string,
      tag: string,
      expected: "succeeds" | "fails",
      publish: (script: string) => string,
    ): Promise<void> => {
      const temp = mkdtempSync(path.join(folder, "runner-"));
      const file = path.join(clone, ".github/workflows/release.yml");
      const change = (script: string): string | undefined => {
        if (script === "npm test") return undefined;
        return script.startsWith("npm publish") ? publish(script) : script;
      };
      const env = { ...process.env, GITHUB_REF_NAME: tag, npm_config_userconfig: registry.npmrc };
      const { succeeded, stdout, stderr } = await playJob({ file, job: "publish", temp }, change, env);
      const came = succeeded ? "succeeds" : "fails";
      figure(name, came, expected);
      if (came !== expected) process.stdout.write(`${stdout}${stderr}`);
    };
    const toLoopback = (script: string) =>
      `${script.replace(" --provenance", "")} --registry ${registry.url}`;
    await play("a tag of another version", "v0.0.0", "fails", toLoopback);
    await play("dry run, with provenance", version, "succeeds", (script) => `${script} --dry-run`);
    await play("published to a registry on loopback", version, "succeeds", toLoopback);
    await play("published a second time", version, "fails", toLoopback);
    await installed(path.join(folder, "user"), registry.url, registry.npmrc);
  } finally {
    await registry.stop();
  }
};

/** A registry on loopback that accepts what is published, and proxies the rest to the one that npm uses here. */
const startRegistry = async (folder: string) => {
  mkdirSync(folder);
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "registry", overrides }));
  await run("npm", ["install", "--no-audit", "--no-fund", REGISTRY], { cwd: folder });
  const { stdout: upstream } = await run("npm", ["config", "get", "registry"], { cwd: folder });
  const port = await freePort();
  const rights = { access: "$all", publish: "$all" };
  const config = {
    storage: path.join(folder, "storage"),
    uplinks: { upstream: { url: upstream.trim() } },
    packages: { [tool.name]: rights, "**": { ...rights, proxy: "upstream" } },
    log: { type: "stdout", level: "warn" },
  };
  mkdirSync(config.storage);
  // JSON is valid YAML.
  writeFileSync(path.join(folder, "config.yaml"), JSON.stringify(config));
  // npm settings that allow publishing there.
  const npmrc = path.join(folder, "npmrc");
  writeFileSync(npmrc, `//127.0.0.1:${port}/:_authToken=anyone\n`);
  const program = path.join(folder, "node_modules/.bin/verdaccio");
  const asked = ["--config", "config.yaml", "--listen", `127.0.0.1:${port}`];
  const { child, stop } = startProgram(program, asked, { cwd: folder });
  const url = `http://127.0.0.1:${port}/`;
  while (child.exitCode === null && !(await fetch(`${url}-/ping`).catch(() => ({ ok: false }))).ok)
    await sleep(100);
  return { url, npmrc, stop };
};

/** What a user gets from that registry. */
const installed = async (cwd: string, url: string, npmrc: string): Promise<void> => {
  emptyProject(cwd, "commonjs");
  const env = { npm_config_registry: url, npm_config_userconfig: npmrc };
  await run("npm", ["install", "--no-audit", "--no-fund", "--save-dev", tool.name], { cwd, env });
  const { stdout } = await ended("npx", ["--offline", tool.name, "--version"], { cwd });
  figure("version installed from there", stdout.trim(), tool.version);
  const shown = await run("npm", ["view", tool.name, "--json", "dist.tarball", "version"], { cwd, env });
  process.stdout.write(`${shown.stdout.trim()}\n`);
};
