import { spawn, type ChildProcess } from "node:child_process";
import { createWriteStream, chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import https from "node:https";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, fetch } from "undici";
import { root } from "../../conformance/testing/measure.ts";
import { listening } from "../../conformance/testing/servers.ts";
import type { Cluster } from "./cluster.ts";

/*
 * What stands in for kubelets: it takes the pods that the scheduler gave to its nodes and runs their commands as
 * processes of this machine, each in a root of its own that holds what the image does, read-only, with the pod's
 * volumes as folders. Needs root and Linux.
 */

interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
  }[];
  readonly envFrom?: readonly {
    readonly configMapRef?: { readonly name: string };
    readonly secretRef?: { readonly name: string };
  }[];
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly defaultMode?: number };
  readonly persistentVolumeClaim?: { readonly claimName: string };
  readonly emptyDir?: object;
}

export interface Pod {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly namespace: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly spec: {
    readonly nodeName?: string;
    readonly securityContext?: { readonly runAsUser?: number; readonly runAsGroup?: number };
    readonly containers: readonly [Container];
    readonly volumes?: readonly Volume[];
  };
  readonly status: { readonly phase: string };
}

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

type Api = (method: string, path: string, body?: object) => Promise<unknown>;

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

const pathOf = ({ metadata }: Pod): string =>
  `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

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
  const status = (phase: string, state: object): Promise<unknown> =>
    api("PATCH", `${pathOf(pod)}/status`, {
      status: {
        phase,
        startTime: startedAt,
        conditions: [{ type: "Ready", status: phase === "Running" ? "True" : "False" }],
        containerStatuses: [
          {
            name: container.name,
            image: container.image,
            imageID: "",
            ready: phase === "Running",
            restartCount: 0,
            state,
          },
        ],
      },
    });
  await status("Running", { running: { startedAt } });
  child.once("close", (code) => {
    running.delete(name);
    const exitCode = code ?? 137;
    const terminated = { exitCode, startedAt, finishedAt: new Date().toISOString() };
    void status(exitCode === 0 ? "Succeeded" : "Failed", { terminated });
  });
};

const environmentOf = async (api: Api, pod: Pod): Promise<Readonly<Record<string, string>>> => {
  const [{ env = [], envFrom = [] }] = pod.spec.containers;
  const values: Record<string, string> = {};
  for (const { configMapRef, secretRef } of envFrom) {
    if (configMapRef !== undefined)
      Object.assign(values, await dataOf(api, pod, "configmaps", configMapRef.name));
    if (secretRef !== undefined) Object.assign(values, await secretOf(api, pod, secretRef.name));
  }
  for (const { name, value, valueFrom } of env) {
    const [, annotation] =
      /^metadata\.annotations\['(.+)'\]$/.exec(valueFrom?.fieldRef?.fieldPath ?? "") ?? [];
    values[name] = value ?? pod.metadata.annotations?.[annotation ?? ""] ?? "";
  }
  return values;
};

const dataOf = async (
  api: Api,
  { metadata }: Pod,
  kind: "configmaps" | "secrets",
  name: string,
): Promise<Readonly<Record<string, string>>> => {
  const found = await api("GET", `/api/v1/namespaces/${metadata.namespace}/${kind}/${name}`);
  return (found as { readonly data?: Readonly<Record<string, string>> }).data ?? {};
};

const secretOf = async (api: Api, pod: Pod, name: string): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    Object.entries(await dataOf(api, pod, "secrets", name)).map(([key, value]) => [
      key,
      Buffer.from(value, "base64").toString(),
    ]),
  );

/** The shell script that makes the container's root and goes into it: this machine's programs, the checkout as the package, the volumes. */
const rootOf = async (api: Api, pod: Pod, { folder, k6 }: Pick<Place, "folder" | "k6">): Promise<string> => {
  const { runAsUser = 0, runAsGroup = 0 } = pod.spec.securityContext ?? {};
  const tree = path.join(folder, "root");
  mkdirSync(tree);
  const start = path.join(folder, "touchstone");
  writeFileSync(start, `#!/bin/sh\nexec /touchstone/node "${root}/cli.ts" "$@"\n`, { mode: 0o755 });
  chmodSync(start, 0o755);
  const bind = (from: string, to: string, options = ""): string =>
    [
      `mkdir -p "${tree}${to}"`,
      `mount --rbind "${from}" "${tree}${to}"`,
      ...(options === "" ? [] : [`mount -o remount,bind,${options} "${tree}${to}"`]),
    ].join("; ");
  const program = (from: string, name: string): string =>
    `touch "${tree}/touchstone/${name}"; mount --bind "${from}" "${tree}/touchstone/${name}"`;
  const lines = [
    `mount -t tmpfs -o mode=755 tmpfs "${tree}"`,
    `for one in /bin /sbin /lib /lib64; do if [ -L $one ]; then cp -P $one "${tree}"; elif [ -d $one ]; then mkdir "${tree}$one"; mount --bind $one "${tree}$one"; fi; done`,
    bind("/usr", "/usr", "ro"),
    bind("/dev", "/dev"),
    bind("/proc", "/proc"),
    bind(root, root, "ro"),
    `mkdir "${tree}/touchstone"`,
    program(process.execPath, "node"),
    program(start, "touchstone"),
    program(k6, "k6"),
  ];
  for (const { name, mountPath, readOnly } of pod.spec.containers[0].volumeMounts ?? []) {
    const volume = (pod.spec.volumes ?? []).find((one) => one.name === name);
    if (volume === undefined) throw new Error(`the pod has no volume ${name}`);
    const from = await folderOf(api, pod, volume, folder);
    lines.push(bind(from, mountPath, readOnly === true ? "ro" : ""));
  }
  return [
    ...lines,
    `mount -o remount,ro "${tree}"`,
    `hostname "${pod.metadata.name}"`,
    `exec chroot --userspec=${runAsUser}:${runAsGroup} "${tree}" "$@"`,
  ].join("\n");
};

const folderOf = async (api: Api, pod: Pod, volume: Volume, folder: string): Promise<string> => {
  const { runAsUser = 0, runAsGroup = 0 } = pod.spec.securityContext ?? {};
  if (volume.persistentVolumeClaim !== undefined) {
    const { namespace } = pod.metadata;
    const claim = (await api(
      "GET",
      `/api/v1/namespaces/${namespace}/persistentvolumeclaims/${volume.persistentVolumeClaim.claimName}`,
    )) as { readonly spec: { readonly volumeName: string } };
    const bound = (await api("GET", `/api/v1/persistentvolumes/${claim.spec.volumeName}`)) as {
      readonly spec: { readonly hostPath: { readonly path: string } };
    };
    return bound.spec.hostPath.path;
  }
  const own = path.join(folder, "volumes", volume.name);
  mkdirSync(own, { recursive: true });
  chownSync(own, runAsUser, runAsGroup);
  if (volume.secret === undefined) return own;
  for (const [name, text] of Object.entries(await secretOf(api, pod, volume.secret.secretName))) {
    const file = path.join(own, name);
    writeFileSync(file, text);
    chownSync(file, 0, runAsGroup);
    chmodSync(file, volume.secret.defaultMode ?? 0o644);
  }
  return own;
};
