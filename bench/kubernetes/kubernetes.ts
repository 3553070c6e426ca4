import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { IJob } from "kubernetes-models/batch/v1";
import { figure } from "../../conformance/testing/measure.ts";
import { k6ForTests } from "../../scenarios/runner/testing/k6.ts";
import { startFake, startIn } from "../../scenarios/runner/testing/play-segments.ts";
import { startCluster, type Cluster } from "../../deploy/testing/cluster.ts";
import { startNodes } from "./nodes.ts";

/**
 * `npm run bench -- kubernetes`: deploy/kubernetes on a real API server with its Job controller and scheduler, and
 * four nodes of a kind that run commands in place of containers. Needs root, Linux and Go; the first time it builds
 * Kubernetes from source, which takes many minutes.
 */
export const kubernetes = async (): Promise<void> => {
  // The pods, which run as another user, need access to the records.
  const folder = mkdtempSync(path.join(os.tmpdir(), "touchstone-kubernetes-"));
  chmodSync(folder, 0o755);
  const k6 = await k6ForTests();
  const within = (name: string): string => {
    mkdirSync(path.join(folder, name));
    return path.join(folder, name);
  };
  const records = within("records");
  chownSync(records, USER, USER);
  const cluster = await startCluster(within("cluster"));
  try {
    const nodes = await startNodes(cluster, { count: NODES, folder: within("pods"), k6: k6.path });
    try {
      await using fake = await startFake("sound");
      const manifests = manifestsFor(within("manifests"), fake.profileFile);
      await volume(cluster, folder, records);
      const bench = { cluster, nodes, manifests };
      const whole = { load: "Complete", completed: "0-3", failed: "", merge: "Complete" };
      report("a sound run", await play(bench, { runId: "sound" }), whole);
      const killed = await play(bench, { runId: "killed", killed: "touchstone-load-2-" });
      const lacking = { load: "Failed", completed: "0,1,3", failed: "2", merge: "Failed" };
      report("a run whose third pod is killed", killed, lacking);
    } finally {
      await nodes.stop();
    }
  } finally {
    await cluster.stop();
    if (process.env["TOUCHSTONE_BENCH_KEEP"] === undefined) rmSync(folder, { recursive: true, force: true });
  }
};

const NODES = 4;
/** The user id of the pods. */
const USER = 10_001;
const NAMESPACE = "touchstone";
const LEAD_MS = 90_000;
const WITHIN = "--timeout=300s";
const MERGE_POLLS = 300;

/** The manifests with the fake's profile and secrets in the places that docs/how-to/many-machines.md names. */
const manifestsFor = (folder: string, profileFile: string): string => {
  cpSync(path.join(import.meta.dirname, "../../deploy/kubernetes"), folder, { recursive: true });
  const profile = JSON.parse(readFileSync(profileFile, "utf8")) as {
    readonly clients: readonly { readonly secret: { readonly file: string } }[];
  };
  const nameOf = (at: number): string => `CLIENT_${at + 1}_SECRET`;
  const secrets = profile.clients.map(({ secret }, at) => {
    const text = readFileSync(path.resolve(path.dirname(profileFile), secret.file), "utf8").trim();
    return `${nameOf(at)}=${text}\n`;
  });
  writeFileSync(path.join(folder, "secrets.env"), secrets.join(""));
  const clients = profile.clients.map((client, at) => ({ ...client, secret: { env: nameOf(at) } }));
  writeFileSync(path.join(folder, "profile.json"), JSON.stringify({ ...profile, clients }));
  return folder;
};

/** The volume that a cluster's storage provides: here a folder of this machine. */
const volume = async ({ kubectl }: Cluster, folder: string, records: string): Promise<void> => {
  const file = path.join(folder, "volume.json");
  const hostPath = { path: records };
  const spec = { capacity: { storage: "10Gi" }, accessModes: ["ReadWriteMany"], hostPath };
  const kind = { apiVersion: "v1", kind: "PersistentVolume" };
  writeFileSync(file, JSON.stringify({ ...kind, metadata: { name: "records" }, spec }));
  await must(kubectl("apply", "-f", file));
};

const must = async (said: ReturnType<Cluster["kubectl"]>): Promise<string> => {
  const { exitCode, said: text } = await said;
  if (exitCode !== 0) throw new Error(text);
  return text;
};

interface Bench {
  readonly cluster: Cluster;
  readonly nodes: Awaited<ReturnType<typeof startNodes>>;
  readonly manifests: string;
}

interface Played {
  readonly load: string;
  readonly completed: string;
  readonly failed: string;
  readonly merge: string;
  readonly pods: number;
  readonly hosts: number;
  readonly mergeExitCode: number | undefined;
  readonly said: string;
}

type Status = NonNullable<IJob["status"]>;

/** The steps of docs/how-to/many-machines.md, with a pod killed midway if one is named. */
const play = async (
  { cluster: { kubectl }, nodes, manifests }: Bench,
  { runId, killed }: { readonly runId: string; readonly killed?: string },
): Promise<Played> => {
  const startAt = startIn(LEAD_MS);
  const run = { RUN_ID: runId, START_AT: startAt, SCENARIO: "token", RATE: "40", DURATION: "10s" };
  const lines = Object.entries(run).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(path.join(manifests, "run.env"), lines.join(""));
  const inside = (...parameters: readonly string[]) => kubectl("-n", NAMESPACE, ...parameters);
  await must(inside("delete", "job", "touchstone-load", "touchstone-merge", "--ignore-not-found"));
  await must(kubectl("apply", "-k", manifests));
  if (killed !== undefined) {
    await sleep(Date.parse(startAt) - Date.now() + 4_000);
    const victim = (await nodes.pods()).find(({ metadata }) => metadata.name.startsWith(killed));
    nodes.kill(victim?.metadata.name ?? "");
  }
  const condition = killed === undefined ? "complete" : "failed";
  const waited = await inside("wait", "job/touchstone-load", `--for=condition=${condition}`, WITHIN);
  const pods = (await nodes.pods()).filter(({ metadata }) => metadata.name.startsWith("touchstone-load"));
  await must(inside("patch", "job", "touchstone-merge", "-p", '{"spec":{"suspend":false}}'));
  const job = async (name: string): Promise<Status> =>
    (JSON.parse(await must(inside("get", "job", name, "-o", "json"))) as IJob).status ?? {};
  const endOf = ({ conditions = [] }: Status): string =>
    conditions.find(({ type, status }) => status === "True" && ["Complete", "Failed"].includes(type))?.type ??
    "none";
  // The merge may end complete or failed, and `kubectl wait` waits for only one of these.
  for (let poll = 0; poll < MERGE_POLLS && endOf(await job("touchstone-merge")) === "none"; poll += 1)
    await sleep(1_000);
  const load = await job("touchstone-load");
  const merging = (await nodes.pods()).find(({ metadata }) => metadata.name.startsWith("touchstone-merge"));
  const logs = await inside("logs", "job/touchstone-merge");
  return {
    load: endOf(load),
    completed: load.completedIndexes ?? "",
    failed: load.failedIndexes ?? "",
    merge: endOf(await job("touchstone-merge")),
    pods: pods.length,
    hosts: new Set(pods.map(({ spec }) => spec.nodeName)).size,
    mergeExitCode: merging?.status?.containerStatuses?.[0]?.state?.terminated?.exitCode,
    // From the merge's output: the section about machines, and the verdict.
    said:
      (waited.exitCode === 0 ? "" : waited.said) +
      logs.said.slice(Math.max(0, logs.said.indexOf("\nMachines\n"))),
  };
};

const report = (
  name: string,
  played: Played,
  expected: Pick<Played, "load" | "completed" | "failed" | "merge">,
): void => {
  process.stdout.write(`  ${name}\n`);
  for (const [what, value] of Object.entries(expected))
    figure(`    ${what}`, String(played[what as keyof Played]), value === "" ? "none" : value);
  figure("    pods; nodes they ran on", `${played.pods}; ${played.hosts}`, "4; 4");
  figure("    exit code of the merge", String(played.mergeExitCode), name.includes("killed") ? "3" : "0");
  process.stdout.write(`${played.said.replaceAll(/^/gm, "      ")}\n`);
};
