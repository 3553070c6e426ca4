import { ConfigurationError } from "../../../conformance/contract/problem.ts";
import os from "node:os";
import process from "node:process";

/**
 * k6 outputs allowed beside ours, with the prefixes of the variables that configure them; k6 gets only these variables.
 * Those of the dashboard could open it to the network, so it gets none.
 */
const prefixes = {
  opentelemetry: "K6_OTEL_",
  "experimental-prometheus-rw": "K6_PROMETHEUS_RW_",
  "web-dashboard": undefined,
} as const;
export type K6OutputName = keyof typeof prefixes;

export interface K6Output {
  readonly name: K6OutputName;
  /** The tags that distinguish its series. */
  readonly tags: { readonly testid: string; readonly instance_id: string };
}

const refused: Readonly<Record<string, string>> = {
  json: "it writes every sample, digests of issued codes and tokens among them",
  csv: "it writes every sample, digests of issued codes and tokens among them; Touchstone reads one itself",
  "web-dashboard": "its address is always a free port of 127.0.0.1",
  cloud: "it sends every sample elsewhere, digests of issued codes and tokens among them",
};

/** Throws ConfigurationError for an unknown output, or one that would export more than metrics. */
export const parseK6Output = (name: string | undefined): K6OutputName | undefined => {
  if (name === undefined) return undefined;
  const known = Object.keys(prefixes) as readonly K6OutputName[];
  const found = known.find((one) => one === name);
  if (found !== undefined) return found;
  const why = refused[name.split("=")[0] ?? ""];
  throw new ConfigurationError([
    {
      key: "--k6-out",
      value: name,
      accepted: `${known.slice(0, -1).join(", ")} or ${known.at(-1)}`,
      ...(why === undefined ? {} : { remedy: why }),
    },
  ]);
};

export const isFor = (output: K6Output | undefined, variable: string): boolean => {
  const prefix = output && prefixes[output.name];
  return prefix !== undefined && variable.startsWith(prefix);
};

/** By default k6 serves its dashboard to the whole network, and updates it every ten seconds. */
export const outputFlags = (output: K6Output | undefined, port?: number): readonly string[] =>
  output === undefined
    ? []
    : [
        `--out=${output.name}${port === undefined ? "" : `=host=127.0.0.1&port=${port}&period=1s`}`,
        ...Object.entries(output.tags).map(([name, value]) => `--tag=${name}=${value}`),
      ];

/**
 * The part of the user's environment that k6 needs; everything else is withheld, including credentials of the profile.
 */
const passedOn = [
  "PATH",
  "HOME",
  "TMPDIR",
  "LANG",
  "TZ",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "GOMAXPROCS",
  "GOGC",
  "GOMEMLIMIT",
  "GODEBUG",
] as const;

/**
 * k6 makes much garbage per sample; collecting it less often saves a tenth of its CPU time. The soft limit keeps its
 * heap from growing into memory that the service and the collector need.
 */
const GARBAGE_PER_CENT = "400";
const SHARE_OF_MEMORY = 0.4;

/** Variables that would silently change the load. */
const isIgnored = (name: string): boolean =>
  name.startsWith("K6_") || /^(https?_proxy|all_proxy|no_proxy)$/i.test(name);

/** Memory available to this process: the machine's, or its container's limit. */
const memoryMiB = (): number => {
  const constrained = process.constrainedMemory();
  return Math.floor((constrained > 0 ? Math.min(constrained, os.totalmem()) : os.totalmem()) / 1_048_576);
};

/**
 * k6's environment. The user's K6_ variables and proxies are not passed on: the load must be the one requested, and
 * take the same route as the gate; `ignored` names what the user had set. k6 trusts the authorities that Node trusts.
 */
export const k6Environment = (
  user: NodeJS.ProcessEnv,
  own: Readonly<Record<string, string>>,
  output?: K6Output,
) => {
  const authority = user["SSL_CERT_FILE"] ?? user["NODE_EXTRA_CA_CERTS"];
  const names = [...passedOn, ...Object.keys(user).filter((name) => isFor(output, name))];
  const kept = names.flatMap((name) => (user[name] === undefined ? [] : [[name, user[name]] as const]));
  return {
    variables: {
      GOGC: GARBAGE_PER_CENT,
      GOMEMLIMIT: `${Math.floor(memoryMiB() * SHARE_OF_MEMORY)}MiB`,
      ...Object.fromEntries(kept),
      ...(authority === undefined ? {} : { SSL_CERT_FILE: authority }),
      K6_AUTO_EXTENSION_RESOLUTION: "false",
      // Older versions use this name for the same switch.
      K6_BINARY_PROVISIONING: "false",
      K6_CSV_TIME_FORMAT: "unix_micro",
      ...own,
    },
    ignored: Object.keys(user)
      .filter((name) => isIgnored(name) && !isFor(output, name))
      .toSorted(),
  };
};
