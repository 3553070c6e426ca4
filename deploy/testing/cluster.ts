import { execFile, spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { root } from "../../conformance/testing/measure.ts";
import { freePort } from "../../conformance/testing/servers.ts";

/**
 * The control plane of Kubernetes as it is released, of the version that cluster/go.mod names: etcd, the API server,
 * the controllers and the scheduler, as processes on loopback. Nothing of it is ours, and it runs no pods.
 */
export interface Cluster {
  readonly origin: string;
  readonly token: string;
  /** Of the API server; it signs for itself. */
  readonly certificate: { readonly certificateFile: string; readonly keyFile: string };
  /** Answers with what it printed on both outputs, and how it ended. */
  readonly kubectl: (...parameters: readonly string[]) => Promise<Said>;
  readonly stop: () => Promise<void>;
}

export interface Said {
  readonly exitCode: number;
  readonly said: string;
}

const binaries = path.join(root, "node_modules/.cache/cluster");
const packages = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
} as const;
type Program = keyof typeof packages;

const binary = (program: Program): string => path.join(binaries, program);

/** Builds from source what is not there yet: the first time takes many minutes. Needs Go. */
const build = async (): Promise<void> => {
  for (const [program, from] of Object.entries(packages)) {
    if (existsSync(binary(program as Program))) continue;
    process.stdout.write(`  building ${program}\n`);
    const flags = ["build", "-p", "2", "-trimpath", "-ldflags=-s -w", "-o", binary(program as Program), from];
    const go = spawn("nice", ["-n", "10", "go", ...flags], {
      cwd: path.join(import.meta.dirname, "cluster"),
      env: { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=readonly" },
      stdio: ["ignore", "inherit", "inherit"],
    });
    const [code] = (await once(go, "close")) as [number | null];
    if (code !== 0) throw new Error(`go build ${from} ended with exit code ${code}`);
  }
};

const controllers = [
  "job-controller",
  "garbage-collector-controller",
  "namespace-controller",
  "serviceaccount-controller",
  "persistentvolume-binder-controller",
  "persistentvolumeclaim-protection-controller",
  "persistentvolume-protection-controller",
];

/** Starts it with its data and logs in the folder. */
export const startCluster = async (folder: string): Promise<Cluster> => {
  await build();
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const file = (name: string): string => path.join(folder, name);
  const token = "administrator-of-this-bench";
  writeFileSync(file("tokens.csv"), `${token},bench,bench,system:masters\n`, { mode: 0o600 });
  const keys = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  writeFileSync(file("accounts.pub"), keys.publicKey);
  writeFileSync(file("accounts.key"), keys.privateKey, { mode: 0o600 });
  mkdirSync(file("certificates"));
  const origin = `https://127.0.0.1:${port}`;
  const certificateFile = file("certificates/apiserver.crt");
  const config = file("kubeconfig.json");
  writeFileSync(config, JSON.stringify(kubeconfig(origin, token, certificateFile)), { mode: 0o600 });

  const started: ChildProcess[] = [];
  const start = (program: Program, flags: Readonly<Record<string, string>>): void => {
    const log = openSync(file(`${program}.log`), "a");
    const parameters = Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
    started.push(spawn(binary(program), parameters, { stdio: ["ignore", log, log] }));
  };
  const etcd = `http://127.0.0.1:${etcdPort}`;
  start("etcd", {
    "data-dir": file("etcd"),
    "listen-client-urls": etcd,
    "advertise-client-urls": etcd,
    "listen-peer-urls": `http://127.0.0.1:${peerPort}`,
    "initial-advertise-peer-urls": `http://127.0.0.1:${peerPort}`,
    "initial-cluster": `default=http://127.0.0.1:${peerPort}`,
    "unsafe-no-fsync": "true",
  });
  start("kube-apiserver", {
    "etcd-servers": etcd,
    "bind-address": "127.0.0.1",
    "advertise-address": "127.0.0.1",
    "secure-port": String(port),
    "cert-dir": path.dirname(certificateFile),
    "endpoint-reconciler-type": "none",
    "service-cluster-ip-range": "198.18.0.0/24",
    "token-auth-file": file("tokens.csv"),
    "authorization-mode": "RBAC",
    "service-account-issuer": origin,
    "service-account-key-file": file("accounts.pub"),
    "service-account-signing-key-file": file("accounts.key"),
    "kubelet-preferred-address-types": "InternalIP",
  });
  const kubectl = async (...parameters: readonly string[]): Promise<Said> => {
    const ran = promisify(execFile)(binary("kubectl"), ["--kubeconfig", config, ...parameters], {
      maxBuffer: 1 << 24,
    });
    return ran.then(
      ({ stdout, stderr }) => ({ exitCode: 0, said: stdout + stderr }),
      (error: { readonly code: number; readonly stdout: string; readonly stderr: string }) => ({
        exitCode: error.code,
        said: error.stdout + error.stderr,
      }),
    );
  };
  const stop = async (): Promise<void> => {
    for (const child of started.toReversed()) {
      if (child.exitCode !== null) continue;
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    }
  };
  try {
    await ready(kubectl);
    const common = { kubeconfig: config, "leader-elect": "false", "bind-address": "127.0.0.1" };
    start("kube-controller-manager", {
      ...common,
      "secure-port": "0",
      controllers: controllers.join(","),
      "use-service-account-credentials": "false",
      "service-account-private-key-file": file("accounts.key"),
    });
    start("kube-scheduler", { ...common, "secure-port": "0" });
  } catch (error) {
    await stop();
    throw error;
  }
  const certificate = { certificateFile, keyFile: file("certificates/apiserver.key") };
  return { origin, token, certificate, kubectl, stop };
};

const READY_WITHIN_MS = 180_000;
const LOOK_EVERY_MS = 1_000;

const ready = async (kubectl: Cluster["kubectl"]): Promise<void> => {
  for (let waitedMs = 0; ; waitedMs += LOOK_EVERY_MS) {
    const { exitCode, said } = await kubectl("get", "--raw", "/readyz");
    if (exitCode === 0) return;
    if (waitedMs >= READY_WITHIN_MS) throw new Error(`the API server did not become ready: ${said}`);
    await sleep(LOOK_EVERY_MS);
  }
};

const kubeconfig = (server: string, token: string, authority: string): object => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [{ name: "bench", cluster: { server, "certificate-authority": authority } }],
  users: [{ name: "bench", user: { token } }],
  contexts: [{ name: "bench", context: { cluster: "bench", user: "bench" } }],
  "current-context": "bench",
});
