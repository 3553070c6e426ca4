import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import type {
  IConfigMap,
  IPersistentVolume,
  IPersistentVolumeClaim,
  IPod,
  IVolume,
} from "kubernetes-models/v1";
import { root } from "../../conformance/testing/measure.ts";

type Metadata = NonNullable<IPod["metadata"]>;
type Spec = NonNullable<IPod["spec"]>;

/** A pod as the API server gives it, of the kind that the manifests describe. */
export interface Pod extends Pick<IPod, "status"> {
  readonly metadata: Metadata & Readonly<Record<"uid" | "name" | "namespace", string>>;
  readonly spec: Omit<Spec, "containers"> & { readonly containers: readonly [Spec["containers"][number]] };
}

/** Asks the API server. */
export type Api = (method: string, path: string, body?: object) => Promise<unknown>;

export const pathOf = ({ metadata }: Pod): string =>
  `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;

export const environmentOf = async (api: Api, pod: Pod): Promise<Readonly<Record<string, string>>> => {
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
  name = "",
): Promise<Readonly<Record<string, string>>> => {
  const found = await api("GET", `/api/v1/namespaces/${metadata.namespace}/${kind}/${name}`);
  return (found as IConfigMap).data ?? {};
};

const secretOf = async (api: Api, pod: Pod, name?: string): Promise<Readonly<Record<string, string>>> => {
  const encoded = Object.entries(await dataOf(api, pod, "secrets", name));
  return Object.fromEntries(encoded.map(([key, value]) => [key, Buffer.from(value, "base64").toString()]));
};

/** The shell script that makes the container's root and goes into it: this machine's programs, the checkout as the package, the volumes. */
export const rootOf = async (
  api: Api,
  pod: Pod,
  { folder, k6 }: { readonly folder: string; readonly k6: string },
): Promise<string> => {
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

const folderOf = async (api: Api, pod: Pod, volume: IVolume, folder: string): Promise<string> => {
  const { runAsUser = 0, runAsGroup = 0 } = pod.spec.securityContext ?? {};
  if (volume.persistentVolumeClaim !== undefined) {
    const claims = `/api/v1/namespaces/${pod.metadata.namespace}/persistentvolumeclaims`;
    const { claimName } = volume.persistentVolumeClaim;
    const claim = (await api("GET", `${claims}/${claimName}`)) as IPersistentVolumeClaim;
    const bound = await api("GET", `/api/v1/persistentvolumes/${claim.spec?.volumeName}`);
    return (bound as IPersistentVolume).spec?.hostPath?.path ?? "";
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
