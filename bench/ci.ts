import { mkdirSync, copyFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { emptyProject, figureExit, installCheckout, run } from "../conformance/testing/installed.ts";
import { root } from "../conformance/testing/measure.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

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
    await figureExit(`official schema, ${file}`, bin("action-validator"), [file], { cwd: root });
  const go = { GOBIN: folder, GOFLAGS: "-mod=mod" };
  await run("go", ["install", "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"], {
    cwd: folder,
    env: go,
  });
  const workflow = [".github/workflows/release.yml"];
  await figureExit("actionlint", path.join(folder, "actionlint"), workflow, { cwd: root });
  await gitlab(path.join(folder, "repository"), bin("gitlab-ci-local"));
};

/** A repository that includes the template: GitLab's schema checks its pipeline, and its job is run. */
const gitlab = async (cwd: string, program: string): Promise<void> => {
  mkdirSync(path.join(cwd, "templates"), { recursive: true });
  copyFileSync(path.join(root, "templates/touchstone.yml"), path.join(cwd, "templates/touchstone.yml"));
  const args = "--effort quick --only code.single-use";
  const include = { local: "templates/touchstone.yml", inputs: { command: "conform", args } };
  writeFileSync(path.join(cwd, ".gitlab-ci.yml"), JSON.stringify({ include: [include] }));
  installCheckout(cwd);
  const git = (...parameters: readonly string[]) =>
    run("git", ["-c", "user.name=bench", "-c", "user.email=bench@bench.example", ...parameters], { cwd });
  await git("init", "--quiet");
  await git("add", "../conformance/testing/ci");
  await git("commit", "--quiet", "--message", "A service");
  await git("remote", "add", "origin", "https://git.example/shop/service.git");
  const job = ["--force-shell-executor", "touchstone"];
  await figureExit("gitlab-ci-local: schema and job", program, job, { cwd });
};
