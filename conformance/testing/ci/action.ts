import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parse } from "yaml";
import { ended } from "../installed.ts";
import { root } from "../measure.ts";

/*
 * Emulates GitHub's runner for a composite action or a workflow's job: evaluates expressions and conditions, runs bash
 * steps like the runner, and records the actions that it would call.
 */

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string | number>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly shell?: string;
  readonly run?: string;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

/** An action that was called, with its inputs. */
interface Called {
  readonly uses: string;
  readonly with: Readonly<Record<string, string>>;
}

type Context = Readonly<Record<string, string>>;

/** A reference such as inputs.profile; this runner knows nothing else. */
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

interface Place {
  readonly workspace: string;
  /** Files of the runner. */
  readonly temp: string;
  /** The default shell of steps; without it each step must name its own. */
  readonly shell?: "bash";
}

/** Runs steps one after another, as long as they succeed or are marked to run always. */
const playSteps = async (
  steps: readonly Step[],
  place: Place,
  known: Context,
  environment: NodeJS.ProcessEnv,
) => {
  let context = known;
  let failed = false;
  let [stdout, stderr] = ["", ""];
  const called: Called[] = [];
  for (const [index, step] of steps.entries()) {
    if (!holds(step.if, context, failed)) continue;
    if (step.uses !== undefined) {
      const given = Object.entries(step.with ?? {}).map(([key, value]) => [
        key,
        filled(String(value), context),
      ]);
      called.push({ uses: step.uses, with: Object.fromEntries(given) as Called["with"] });
      continue;
    }
    if ((step.shell ?? place.shell) !== "bash")
      throw new Error(`step ${index} names no shell that this runner has`);
    const outputFile = path.join(place.temp, `output-${index}`);
    const script = path.join(place.temp, `step-${index}.sh`);
    writeFileSync(outputFile, "");
    writeFileSync(script, filled(step.run ?? "", context));
    const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, filled(value, context)]);
    const bash = ["--noprofile", "--norc", "-eo", "pipefail", script];
    const ran = await ended("bash", bash, {
      cwd: place.workspace,
      env: {
        ...environment,
        CI: "true",
        GITHUB_ACTIONS: "true",
        GITHUB_OUTPUT: outputFile,
        ...Object.fromEntries(env),
      },
    });
    failed ||= ran.code !== 0;
    [stdout, stderr] = [stdout + ran.stdout, stderr + ran.stderr];
    const outputs = outputsIn(outputFile).map(([name, value]) => [`steps.${step.id}.outputs.${name}`, value]);
    context = { ...context, ...(Object.fromEntries(outputs) as Context) };
  }
  return { succeeded: !failed, called, stdout, stderr, context };
};

export const playAction = async (
  workspace: string,
  given: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv,
) => {
  const action = parse(readFileSync(path.join(root, "action.yml"), "utf8")) as Action;
  const temp = mkdtempSync(path.join(workspace, "runner-"));
  const summaryFile = path.join(temp, "summary");
  writeFileSync(summaryFile, "");
  const known = {
    "runner.temp": temp,
    "runner.os": "Linux",
    "runner.arch": "X64",
    ...Object.fromEntries(
      Object.entries(action.inputs).map(([name, input]) => [`inputs.${name}`, given[name] ?? input.default]),
    ),
  };
  const { context, ...played } = await playSteps(action.runs.steps, { workspace, temp }, known, {
    ...environment,
    GITHUB_STEP_SUMMARY: summaryFile,
  });
  const outputs = Object.entries(action.outputs).map(([name, { value }]) => [name, filled(value, context)]);
  return {
    ...played,
    outputs: Object.fromEntries(outputs) as Context,
    summary: readFileSync(summaryFile, "utf8"),
  };
};

/** Runs a workflow's job in a checkout; each step's script may be changed before, or left out. */
export const playJob = async (
  { file, job, temp }: { readonly file: string; readonly job: string; readonly temp: string },
  change: (script: string) => string | undefined,
  environment: NodeJS.ProcessEnv,
) => {
  const { jobs } = parse(readFileSync(file, "utf8")) as {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
  };
  const steps = (jobs[job]?.steps ?? []).flatMap((step) => {
    if (step.run === undefined) return [step];
    const run = change(step.run);
    return run === undefined ? [] : [{ ...step, run }];
  });
  const workspace = path.resolve(path.dirname(file), "../..");
  return playSteps(steps, { workspace, temp, shell: "bash" }, {}, environment);
};
