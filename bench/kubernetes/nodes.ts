import { spawn, type ChildProcess } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import https from "node:https";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, fetch } from "undici";
import { listening } from "../../conformance/testing/servers.ts";
import type { Cluster } from "../../deploy/testing/cluster.ts";
import { environmentOf, pathOf, rootOf, type Api, type Pod } from "../../deploy/testing/container.ts";

/*
 * What stands in for kubelets: it takes the pods that the scheduler gave to its nodes and runs their commands as
 * processes of this machine, each in a root of its own that holds what the image does, read-only, with the pod's
 * volumes as folders. Needs root and Linux.
 */

const LOOK_EVERY_MS = 500;
const ATTEMPTS = 5;

export interface Nodes {
  readonly count: number;
  /** For what their pods leave behind. */
  readonly folder: string;
  /** Path of the k6 in the image. */
  readonly k6: string;
}

/** Adds nodes of two cores each, and runs what comes to them until it is stopped. */
export const startNodes = async (cluster: Cluster, { count, folder, k6 }: Nodes) => {
  const api = apiOf(cluster);
  const logs = await serveLogs(cluster, (pod) => path.join(folder, pod, "log"));
  for (let index = 1; index <= count; index += 1) await addNode(api, `node-${index}`, logs.port);
  const running = new Map<string, ChildProcess>();
  const taken = new Set<string>();
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    const { items } = (await api("GET", "/api/v1/pods")) as { readonly items: readonly Pod[] };
    for (const pod of items) {
      const { uid, name, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp !== undefined) {
        running.get(name)?.kill("SIGKILL");
        if (running.get(name) === undefined) await api("DELETE", `${pathOf(pod)}?gracePeriodSeconds=0`);
      } else if (pod.spec.nodeName !== undefined && !taken.has(uid)) {
        taken.add(uid);
        await run(api, pod, { folder: path.join(folder, name), k6, running });
      }
    }
  };
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await look();
      await sleep(LOOK_EVERY_MS);
    }
  })();
  return {
    /** Ends a pod's process as the kernel does that of a container without memory. */
    kill: (pod: string): void => void running.get(pod)?.kill("SIGKILL"),
    pods: async (): Promise<readonly Pod[]> =>
      ((await api("GET", "/api/v1/pods")) as { readonly items: readonly Pod[] }).items,
    stop: async (): Promise<void> => {
      stopping.abort();
      await looking;
      for (const child of running.values()) child.kill("SIGKILL");
      await logs.stop();
    },
  };
};

const apiOf = ({ origin, token, certificate }: Cluster): Api => {
  const dispatcher = new Agent({ connect: { ca: readFileSync(certificate.certificateFile) } });
  const ask = async (method: string, at: string, body: object | undefined) => {
    const type = method === "PATCH" ? "application/strategic-merge-patch+json" : "application/json";
    const answer = await fetch(`${origin}${at}`, {
      method,
      dispatcher,
      headers: { authorization: `Bearer ${token}`, "content-type": type },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, text: await answer.text() };
  };
  return async (method, at, body) => {
    let said = "";
    // A control plane that shares two cores with the load may let one wait.
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const { status, text } = await ask(method, at, body).catch((error: unknown) => ({
        status: 0,
        text: String(error),
      }));
      if ((status >= 200 && status < 300) || status === 404) return JSON.parse(text) as unknown;
      said = `${status}: ${text}`;
      await sleep(LOOK_EVERY_MS);
    }
    throw new Error(`${method} ${at} was answered with ${said}`);
  };
};

const addNode = async (api: Api, name: string, logsPort: number): Promise<void> => {
  await api("POST", "/api/v1/nodes", {
    metadata: { name, labels: { "kubernetes.io/hostname": name, "kubernetes.io/os": "linux" } },
  });
  const size = { cpu: "2", memory: "4Gi", pods: "10" };
  await api("PATCH", `/api/v1/nodes/${name}/status`, {
    status: {
      capacity: size,
      allocatable: size,
      conditions: [{ type: "Ready", status: "True", reason: "TestNode" }],
      addresses: [{ type: "InternalIP", address: "127.0.0.1" }],
      daemonEndpoints: { kubeletEndpoint: { Port: logsPort } },
    },
  });
  // New nodes are tainted until the controller of nodes has seen them, which is not run: it waits for heartbeats.
  await api("PATCH", `/api/v1/nodes/${name}`, { spec: { taints: [] } });
};

/** For `kubectl logs`, which the API server passes on to the node. */
const serveLogs = ({ certificate }: Cluster, fileOf: (pod: string) => string) => {
  const server = https.createServer(
    { cert: readFileSync(certificate.certificateFile), key: readFileSync(certificate.keyFile) },
    (request, response) => {
      const [, pod] = /^\/containerLogs\/[^/]+\/([^/]+)\//.exec(request.url ?? "") ?? [];
      response.end(pod === undefined ? "" : readFileSync(fileOf(decodeURIComponent(pod))));
    },
  );
  return listening(server);
};

interface Place {
  readonly folder: string;
  readonly k6: string;
  /** The processes of pods, by name. */
  readonly running: Map<string, ChildProcess>;
}

const run = async (api: Api, pod: Pod, { folder, k6, running }: Place): Promise<void> => {
  const [container] = pod.spec.containers;
  const { name } = pod.metadata;
  mkdirSync(folder);
  const env = await environmentOf(api, pod);
  const script = await rootOf(api, pod, { folder, k6 });
  const expanded = (text: string): string =>
    text.replaceAll(/\$\((\w+)\)/g, (all, variable: string) => env[variable] ?? all);
  const command = [...(container.command ?? []), ...(container.args ?? [])].map(expanded);
  const child = spawn("unshare", ["--mount", "--uts", "sh", "-ec", script, "sh", ...command], {
    env: { ...env, PATH: "/touchstone:/usr/sbin:/usr/bin:/sbin:/bin", TOUCHSTONE_K6: "/touchstone/k6" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.set(name, child);
  const log = createWriteStream(path.join(folder, "log"));
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const startedAt = new Date().toISOString();
  const status = (phase: string, state: object): Promise<unknown> => {
    const ready = phase === "Running";
    const { name, image } = container;
    const containerStatuses = [{ name, image, imageID: "", ready, restartCount: 0, state }];
    const conditions = [{ type: "Ready", status: ready ? "True" : "False" }];
    const told = { phase, startTime: startedAt, conditions, containerStatuses };
    return api("PATCH", `${pathOf(pod)}/status`, { status: told });
  };
  await status("Running", { running: { startedAt } });
  child.once("close", (code) => {
    running.delete(name);
    const exitCode = code ?? 137;
    const terminated = { exitCode, startedAt, finishedAt: new Date().toISOString() };
    void status(exitCode === 0 ? "Succeeded" : "Failed", { terminated });
  });
};
