import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { tool } from "../record/tool.ts";
import { figure, root } from "./measure.ts";
import { startProgram, type Place } from "./start-cli.ts";

/**
 * How a program ended, whatever its exit code. It runs without Node's compile cache: the package lies elsewhere each
 * time, so no later run could use it.
 */
export const ended = async (command: string, parameters: readonly string[], { env, ...place }: Place) => {
  const started = startProgram(command, parameters, {
    ...place,
    env: { NODE_COMPILE_CACHE: undefined, ...env },
  });
  await started.ended;
  return { code: await started.closed, ...started.said() };
};

/** The same, for a program that must end with 0. */
export const run = async (command: string, parameters: readonly string[], place: Place) => {
  const { code, ...said } = await ended(command, parameters, place);
  if (code !== 0) throw new Error(`${[command, ...parameters].join(" ")} ended with ${code}: ${said.stderr}`);
  return said;
};

/** Runs a program, and prints its exit code next to 0; with another one, also what it printed. */
export const figureExit = async (name: string, ...program: Parameters<typeof ended>): Promise<void> => {
  const { code, stdout, stderr } = await ended(...program);
  figure(`${name}: exit code`, String(code), "0");
  if (code !== 0) process.stdout.write(`${stdout.slice(-2_000)}${stderr.slice(0, 2_000)}`);
};

interface Packed {
  readonly file: string;
  readonly contents: readonly string[];
  readonly bytes: number;
}

export const pack = async (folder: string): Promise<Packed> => {
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: root });
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf("[\n"))) as {
    filename: string;
    size: number;
    files: { path: string }[];
  }[];
  if (packed === undefined) throw new Error("npm pack told of no package");
  return {
    file: path.join(folder, packed.filename),
    contents: packed.files.map((file) => file.path),
    bytes: packed.size,
  };
};

/** Installs a packed package as npm would, with its dependency from this checkout and no registry. */
export const installOffline = async (folder: string, { file }: Packed): Promise<void> => {
  const modules = path.join(folder, "node_modules");
  const target = path.join(modules, tool.name);
  mkdirSync(target, { recursive: true });
  mkdirSync(path.join(modules, ".bin"));
  await run("tar", ["-xzf", file, "--strip-components=1", "-C", target], {});
  cpSync(path.join(root, "node_modules/typebox"), path.join(modules, "typebox"), { recursive: true });
  for (const name of ["touchstone", tool.name])
    symlinkSync(`../${tool.name}/dist/cli.js`, path.join(modules, ".bin", name));
};

/** Makes this checkout the installed package of a folder; npx takes it without asking a registry. */
export const installCheckout = (folder: string): void => {
  const bin = path.join(folder, "node_modules/.bin");
  mkdirSync(bin, { recursive: true });
  const program = `#!/bin/sh\nexec "${process.execPath}" "${path.join(root, "cli.ts")}" "$@"\n`;
  writeFileSync(path.join(bin, tool.name), program, { mode: 0o755 });
};

/** An npm package in an empty folder, as `npm init` leaves it. */
export const emptyProject = (folder: string, type: "commonjs" | "module"): void => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ name: "gate", version: "1.0.0", type }));
};
