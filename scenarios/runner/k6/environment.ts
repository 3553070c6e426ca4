import os from "node:os";
import process from "node:process";
import { isFor, type K6Output } from "./outputs.ts";

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
