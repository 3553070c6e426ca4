import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { emptyProject, ended, pack, run } from "./installed.ts";
import { figure, root, seconds } from "./measure.ts";

/** Versions of Node that users have; the package asks for 20 or later. */
const nodes = ["20", "22", "24"] as const;
const quick = ["--effort", "quick", "--only", "code.single-use,push.delivered"];
/** What a new user calls first, each with the exit code that it has where all is well. */
const calls: readonly (readonly string[])[] = [
  ["init", "--yes"],
  ["doctor"],
  ["conform", ...quick],
  ["run", ...quick, "--rate", "20", "--duration", "2s", "--out", "both", "--json", "--report", "junit,html"],
  ["report", "both/gate", "both/load", "--out", "again"],
];

interface Manager {
  readonly name: string;
  readonly install: (file: string) => readonly [program: string, ...parameters: string[]];
}
const npm: Manager = {
  name: "npm",
  install: (file) => ["npm", "install", "--no-audit", "--no-fund", file],
};
const pnpm: Manager = { name: "pnpm", install: (file) => ["npx", "--yes", "pnpm@10", "add", file] };

/** The package as a registry gives it: its size, how long it takes to install, and whether what is installed works. */
export const packageBench = async (): Promise<void> => {
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-package-bench-"));
  try {
    const { file, bytes } = await pack(folder);
    figure("tarball", `${(bytes / 1_000_000).toFixed(2)} MB`, "2 MB");
    for (const version of nodes) {
      const bin = await nodeBin(folder, version);
      for (const type of ["commonjs", "module"] as const)
        await installed(path.join(folder, `npm-${type}-${version}`), {
          manager: npm,
          type,
          version,
          bin,
          file,
        });
    }
    const bin = await nodeBin(folder, "22");
    for (const type of ["commonjs", "module"] as const)
      await installed(path.join(folder, `pnpm-${type}`), { manager: pnpm, type, version: "22", bin, file });
    await helpTime(path.join(folder, "npm-module-24"));
    await types(folder, file);
    await fromGit(path.join(folder, "git"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** The folder with a Node of this version, from the registry. */
const nodeBin = async (folder: string, version: string): Promise<string> => {
  const home = path.join(folder, `node-${version}`);
  const name = `node-${process.platform}-${process.arch}@${version}`;
  emptyProject(home, "module");
  await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", name], { cwd: home });
  return path.join(home, "node_modules", name.replace(/@.*/, ""), "bin");
};

interface Setting {
  readonly manager: Manager;
  readonly type: "commonjs" | "module";
  readonly version: string;
  readonly bin: string;
  readonly file: string;
}

const installed = async (cwd: string, { manager, type, version, bin, file }: Setting): Promise<void> => {
  emptyProject(cwd, type);
  // Without the Node of this checkout, which stands first on the path of its scripts.
  const others = (process.env["PATH"] ?? "").split(":").filter((one) => !one.includes("node_modules"));
  const env = { PATH: [bin, ...others].join(":"), CI: "" };
  const [program, ...parameters] = manager.install(file);
  const startedMs = performance.now();
  const { stderr } = await run(program, parameters, { cwd, env });
  const name = `${manager.name}, type ${type}, Node ${version}`;
  figure(`${name}: install`, seconds(performance.now() - startedMs), "20 s");
  figure(`${name}: warnings about engines`, String(stderr.match(/EBADENGINE/g)?.length ?? 0), "0");
  const codes: number[] = [];
  for (const call of calls)
    codes.push((await ended("npx", ["--offline", "touchstone-harness", ...call], { cwd, env })).code);
  figure(`${name}: exit codes of ${calls.map(([first]) => first).join(", ")}`, codes.join(" "), "0 0 0 0 0");
};

const helpTime = async (cwd: string): Promise<void> => {
  const call = "TIMEFORMAT='%U %S'; time npx --offline touchstone-harness --help > help.txt";
  await run("bash", ["-c", call], { cwd });
  const { stderr } = await run("bash", ["-c", call], { cwd });
  const used = stderr.trim().split("\n").at(-1)?.split(" ").map(Number) ?? [];
  figure("npx --help, warm: CPU time", `${used.reduce((sum, one) => sum + one, 0).toFixed(2)} s`, "0.5 s");
};

const types = async (cwd: string, file: string): Promise<void> => {
  const asked = ["--yes", "@arethetypeswrong/cli@0.18.5", file, "--profile", "esm-only", "--format", "json"];
  const { code } = await ended("npx", asked, { cwd });
  figure("@arethetypeswrong/cli: exit code", String(code), "0");
};

/** As a project would that names the repository instead of a version; what is committed is installed. */
const fromGit = async (cwd: string): Promise<void> => {
  emptyProject(cwd, "module");
  const startedMs = performance.now();
  await run("npm", ["install", "--no-audit", "--no-fund", `git+file://${root}`], { cwd });
  figure("install from git, its build included", seconds(performance.now() - startedMs), "none");
  const { code } = await ended("npx", ["--offline", "touchstone-harness", "--version"], { cwd });
  figure("installed from git: exit code of --version", String(code), "0");
};
