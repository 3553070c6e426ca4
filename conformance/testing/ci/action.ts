import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { root } from "../measure.ts";

/*
 * Plays GitHub's runner for a composite action: evaluates expressions and conditions, runs the steps for bash as the
 * runner does, and notes the actions that it would call.
 */

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly run?: string;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

export interface Played {
  /** Whether the step that uses the action succeeds. */
  readonly succeeded: boolean;
  readonly outputs: Readonly<Record<string, string>>;
  /** Actions that were called, with what they were given. */
  readonly called: readonly { readonly uses: string; readonly with: Readonly<Record<string, string>> }[];
  readonly stdout: string;
  readonly stderr: string;
  readonly summary: string;
}

type Context = Readonly<Record<string, string>>;

/** A reference such as inputs.profile; anything else is more than this runner knows. */
const valueOf = (expression: string, context: Context): string => {
  const reference = expression.trim();
  if (!/^[\w.-]+$/.test(reference)) throw new Error(`this runner cannot evaluate "${expression}"`);
  return context[reference] ?? "";
};

const filled = (text: string, context: Context): string =>
  text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => valueOf(expression, context));

/** Conditions of the form `a == 'x' && always() && b != ''`. */
const holds = (condition: string | undefined, context: Context, failed: boolean): boolean => {
  const parts = (condition ?? "success()").split("&&").map((part) => part.trim());
  const status = parts.includes("always()") ? true : !failed;
  return (
    status &&
    parts.every((part) => {
      if (/^(always|success)\(\)$/.test(part)) return true;
      const [, left = "", operator, right = ""] = /^(\S+) (==|!=) '(.*)'$/.exec(part) ?? [];
      if (operator === undefined) throw new Error(`this runner cannot evaluate "${part}"`);
      return (valueOf(left, context) === right) === (operator === "==");
    })
  );
};

const outputsIn = (file: string): readonly (readonly [string, string])[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line.includes("="))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)] as const);

export const playAction = async (
  workspace: string,
  given: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
): Promise<Played> => {
  const action = parse(readFileSync(path.join(root, "action.yml"), "utf8")) as Action;
  const temp = mkdtempSync(path.join(workspace, "runner-"));
  const summaryFile = path.join(temp, "summary");
  writeFileSync(summaryFile, "");
  let context: Context = {
    "runner.temp": temp,
    "runner.os": "Linux",
    "runner.arch": "X64",
    ...Object.fromEntries(
      Object.entries(action.inputs).map(([name, input]) => [`inputs.${name}`, given[name] ?? input.default]),
    ),
  };
  let failed = false;
  let [stdout, stderr] = ["", ""];
  const called: Played["called"][number][] = [];
  for (const [index, step] of action.runs.steps.entries()) {
    if (!holds(step.if, context, failed)) continue;
    if (step.uses !== undefined) {
      const values = Object.entries(step.with ?? {}).map(([key, value]) => [key, filled(value, context)]);
      called.push({ uses: step.uses, with: Object.fromEntries(values) as Record<string, string> });
      continue;
    }
    if (step.shell !== "bash") throw new Error(`step ${index} names no shell that this runner has`);
    const outputFile = path.join(temp, `output-${index}`);
    const script = path.join(temp, `step-${index}.sh`);
    mkdirSync(temp, { recursive: true });
    writeFileSync(outputFile, "");
    writeFileSync(script, filled(step.run ?? "", context));
    const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, context)]);
    const ended = await bash(script, workspace, {
      ...environment,
      CI: "true",
      GITHUB_ACTIONS: "true",
      GITHUB_OUTPUT: outputFile,
      GITHUB_STEP_SUMMARY: summaryFile,
      ...Object.fromEntries(env),
    });
    failed ||= ended.code !== 0;
    [stdout, stderr] = [stdout + ended.stdout, stderr + ended.stderr];
    const outputs = outputsIn(outputFile).map(([name, value]) => [`steps.${step.id}.outputs.${name}`, value]);
    context = { ...context, ...(Object.fromEntries(outputs) as Context) };
  }
  return {
    succeeded: !failed,
    outputs: Object.fromEntries(
      Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, context)]),
    ),
    called,
    stdout,
    stderr,
    summary: readFileSync(summaryFile, "utf8"),
  };
};

const bash = (
  script: string,
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve) => {
    execFile(
      "bash",
      ["--noprofile", "--norc", "-eo", "pipefail", script],
      { cwd, env },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
  });
