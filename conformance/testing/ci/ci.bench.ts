import { mkdirSync, copyFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { emptyProject, ended, run } from "../installed.ts";
import { figure, root } from "../measure.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/**
 * Third-party tools check and run the action and the template: actionlint, the official schemas, and gitlab-ci-local
 * (which needs rsync).
 */
export const ci = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  emptyProject(folder, "module");
  const tools = ["gitlab-ci-local@4.75.1", "@action-validator/cli@0.6.0", "@action-validator/core@0.6.0"];
  await run("npm", ["install", "--no-audit", "--no-fund", ...tools], { cwd: folder });
  const bin = (name: string) => path.join(folder, "node_modules/.bin", name);
  for (const file of ["action.yml", ".github/workflows/release.yml"])
    await check(`official schema, ${file}`, bin("action-validator"), [file]);
  const go = { GOBIN: folder, GOFLAGS: "-mod=mod" };
  await run("go", ["install", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"], {
    cwd: folder,
    env: go,
  });
  await check("actionlint", path.join(folder, "actionlint"), [".github/workflows/release.yml"]);
  await gitlab(path.join(folder, "repository"), bin("gitlab-ci-local"));
};

const check = async (name: string, program: string, parameters: readonly string[]): Promise<void> => {
  const { code, stdout, stderr } = await ended(program, parameters, { cwd: root });
  figure(`${name}: exit code`, String(code), "0");
  if (code !== 0) process.stdout.write(`${stdout}${stderr}`);
};

/** A repository that includes the template: GitLab's schema checks its pipeline, and its job is run. */
const gitlab = async (cwd: string, program: string): Promise<void> => {
  mkdirSync(path.join(cwd, "templates"), { recursive: true });
  mkdirSync(path.join(cwd, "node_modules/.bin"), { recursive: true });
  copyFileSync(path.join(root, "templates/touchstone.yml"), path.join(cwd, "templates/touchstone.yml"));
  const args = "--effort quick --only code.single-use";
  const include = { local: "templates/touchstone.yml", inputs: { command: "conform", args } };
  writeFileSync(path.join(cwd, ".gitlab-ci.yml"), JSON.stringify({ include: [include] }));
  // The job uses this checkout as the installed package.
  writeFileSync(
    path.join(cwd, "node_modules/.bin/touchstone-harness"),
    `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, "cli.ts")}" "$@"\n`,
    { mode: 0o755 },
  );
  const git = (...parameters: readonly string[]) =>
    run("git", ["-c", "user.name=bench", "-c", "user.email=bench@bench.example", ...parameters], { cwd });
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "A service");
  await git("remote", "add", "origin", "https://git.example/shop/service.git");
  const { code, stdout, stderr } = await ended(program, ["--force-shell-executor", "touchstone"], { cwd });
  figure("gitlab-ci-local: schema and job, exit code", String(code), "0");
  if (code !== 0) process.stdout.write(`${stdout}${stderr}`);
};
