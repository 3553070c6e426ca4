import { mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { startFakeServer } from "../fake-server/index.ts";
import { stepsOf, CLIENT } from "../conformance/testing/pages/player.ts";
import { emptyProject, ended, figureExit, pack, run } from "../conformance/testing/installed.ts";
import { figure, root, seconds } from "../conformance/testing/measure.ts";
import { temporaryFolder } from "../conformance/testing/temporary-folder.ts";

/** Versions of Node that users have; the package requires the first or later. */
const nodes = ["22.19", "24"] as const;
const quick = ["--effort", "quick", "--only", "code.single-use,push.delivered"];
/** What a new user calls first, with the expected exit codes. */
const calls: readonly (readonly string[])[] = [
  ["init"],
  ["doctor"],
  ["conform", ...quick],
  ["run", ...quick, "--rate", "20", "--duration", "2s", "--out", "both", "--json", "--report", "junit,html"],
  ["report", "both/gate", "both/load", "--out", "again"],
];

const managers = {
  npm: ["npm", "install", "--no-audit", "--no-fund"],
  pnpm: ["npx", "--yes", "pnpm@10", "add"],
} as const;

/** The package as a registry delivers it: its size, its installation time, and whether it works when installed. */
export const packageBench = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  const { file, bytes } = await pack(folder);
  figure("tarball", `${(bytes / 1_000_000).toFixed(2)} MB`, "2 MB");
  const settings = [...nodes.map((version) => ["npm", version] as const), ["pnpm", "22.19"] as const];
  for (const [manager, version] of settings) {
    const bin = await nodeBin(folder, version);
    for (const type of ["commonjs", "module"] as const)
      await installed(folder, { manager, type, version, bin, file });
  }
  await types(folder, file);
};

/** A folder with this version of Node, from the registry. */
const nodeBin = async (folder: string, version: string): Promise<string> => {
  const home = path.join(folder, `node-${version}`);
  const name = `node-${process.platform}-${process.arch}@${version}`;
  emptyProject(home, "module");
  await run("npm", ["install", "--no-audit", "--no-fund", "--no-save", name], { cwd: home });
  return path.join(home, "node_modules", name.replace(/@.*/, ""), "bin");
};

interface Setting {
  readonly manager: keyof typeof managers;
  readonly type: "commonjs" | "module";
  readonly version: string;
  readonly bin: string;
  readonly file: string;
}

/** PATH without the Node of this checkout, which comes first in its scripts. */
const pathWithoutCheckout = (): readonly string[] =>
  (process.env["PATH"] ?? "").split(":").filter((one) => !one.includes("node_modules"));

const installed = async (folder: string, { manager, type, version, bin, file }: Setting): Promise<void> => {
  const cwd = path.join(folder, `${manager}-${type}-${version}`);
  emptyProject(cwd, type);
  const env = { PATH: [bin, ...pathWithoutCheckout()].join(":"), CI: "" };
  const [program, ...parameters] = managers[manager];
  const startedMs = performance.now();
  const { stderr } = await run(program, [...parameters, file], { cwd, env });
  const name = `${manager}, type ${type}, Node ${version}`;
  figure(`${name}: install`, seconds(performance.now() - startedMs), "20 s");
  figure(`${name}: warnings about engines`, String(stderr.match(/EBADENGINE/g)?.length ?? 0), "0");
  const codes: (number | null)[] = [];
  for (const call of calls)
    codes.push((await ended("npx", ["--offline", "touchstone-harness", ...call], { cwd, env })).code);
  figure(`${name}: exit codes of ${calls.map(([first]) => first).join(", ")}`, codes.join(" "), "0 0 0 0 0");
};

const types = async (cwd: string, file: string): Promise<void> => {
  const asked = ["--yes", "@arethetypeswrong/cli@0.18.5", file, "--profile", "esm-only", "--format", "json"];
  await figureExit("@arethetypeswrong/cli", "npx", asked, { cwd });
};

/** How many lines of the page lead to the first verdict. */
const COMMANDS = 5;

/** From an empty folder to the first verdict, as the page for CI says, with the packed package and the Node of this process. */
export const adopt = async (): Promise<void> => {
  using temporary = temporaryFolder();
  const folder = temporary.path;
  await using ending = new AsyncDisposableStack();
  const fake = await startFakeServer({ clients: [CLIENT] });
  ending.defer(fake.stop);
  const { file } = await pack(folder);
  const cwd = path.join(folder, "new");
  mkdirSync(cwd);
  const steps = stepsOf(readFileSync(path.join(root, "docs/how-to/ci.md"), "utf8"));
  const lines = steps.flatMap((step) => (step.kind === "line" ? [step] : [])).slice(0, COMMANDS);
  const rest = "--only exchange.token-set,exchange.authenticates-client --effort quick";
  const job = `touchstone run --profile touchstone.config.mts ${rest} --report junit,html`;
  const places = [path.dirname(process.execPath), ...pathWithoutCheckout()];
  const env: Record<string, string> = { PATH: places.join(":"), CI: "" };
  const startedMs = performance.now();
  for (const { text, exitCode } of [...lines, { text: job, exitCode: 0 }]) {
    if (text === job)
      figure(
        "to the first verdict",
        `${COMMANDS} commands, ${seconds(performance.now() - startedMs)}`,
        "180 s",
      );
    const [, name, value] = /^export (\w+)=(.*)$/.exec(text) ?? [];
    if (name !== undefined) env[name] = value ?? "";
    const line = text
      .replace(/^(npm install .*)\.\/touchstone-harness.*$/, `$1${file}`)
      .replace(/^touchstone/, "npx touchstone-harness")
      .replace("https://staging.example", fake.baseUrl);
    const { code } = await ended("bash", ["-c", line], { cwd, env });
    figure(text.slice(0, 70), `exit code ${code}`, `exit code ${exitCode}`);
  }
  figure("and with a load by k6", seconds(performance.now() - startedMs), "180 s");
};
