import { readFileSync } from "node:fs";
import type { OwnLimit } from "../contract/load-failures.ts";
import { ConfigurationError } from "../contract/problem.ts";

/** What this machine allows a process that it starts; unknown where there is no /proc. */
export type Allowed = Partial<Record<OwnLimit, number>>;

/** Node and k6 raise the soft limit of open files to the hard one themselves. */
export const allowedHere = (read: (file: string) => string | undefined = contentOf): Allowed => {
  const [, files] = /^Max open files\s+\S+\s+(\d+)/m.exec(read("/proc/self/limits") ?? "") ?? [];
  const range = /^(\d+)\s+(\d+)/.exec(read("/proc/sys/net/ipv4/ip_local_port_range") ?? "");
  return {
    ...(files !== undefined && { "open files": Number(files) }),
    ...(range !== null && { "local ports": Number(range[2]) - Number(range[1]) + 1 }),
  };
};

const contentOf = (file: string): string | undefined => {
  try {
    return readFileSync(file, "latin1");
  } catch {
    return undefined;
  }
};

/** More than are used at a time, except for targets so far away that most of them just wait. */
const MOST_CONNECTIONS = 64;
const LEAST_CONNECTIONS = 8;

/** What a gate holds open beside its connections; of a service in the same process, both ends of each. */
const otherFiles = { "in this process": 200, elsewhere: 120 } as const;

/**
 * How many connections a gate keeps to its target: as asked, or as many as open files are allowed. Throws
 * ConfigurationError if these are too few, since what then fails would look like the service's doing.
 */
export const connectionsWithin = (
  { "open files": allowed = Infinity }: Allowed,
  asked: number = MOST_CONNECTIONS,
  target: keyof typeof otherFiles = "elsewhere",
): number => {
  const each = target === "elsewhere" ? 1 : 2;
  const most = Math.floor((allowed - otherFiles[target]) / each);
  const needed = otherFiles[target] + each * LEAST_CONNECTIONS;
  if (most < LEAST_CONNECTIONS)
    throw new ConfigurationError(
      `Touchstone itself may open ${allowed} files here, and a gate needs ${needed}; allow more with \`ulimit -n ${needed}\``,
    );
  return Math.min(asked, most);
};
