import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { closeSync, cpSync, mkdirSync, openSync } from "node:fs";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../../conformance/testing/servers.ts";

/** Everything that runs, so that nothing outlives the bench, however that ends. */
const running = new Set<ChildProcess>();
process.once("exit", () => running.forEach((child) => kill(child)));
process.once("SIGINT", () => process.exit(130));
process.once("SIGTERM", () => process.exit(143));

/** Ends the process and those that it has started: it leads a group of its own. */
const kill = (child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, signal);
  } catch {
    // It has ended.
  }
};

export interface Program {
  readonly command: readonly string[];
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

export interface Running {
  readonly kill: () => Promise<void>;
}

/** Starts a program in a process group of its own. What it prints goes to a file, named after it. */
export const startGroup = (folder: string, name: string, { command, cwd, env }: Program): Running => {
  const log = openSync(path.join(folder, `${name}.log`), "a");
  const [program = "", ...parameters] = command;
  const child = spawn(program, parameters, {
    cwd: cwd ?? folder,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  running.add(child);
  const ended = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  return {
    kill: async () => {
      kill(child);
      await ended;
      running.delete(child);
    },
  };
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });

export const untilListens = async (what: string, port: number, withinMs = 60_000): Promise<void> => {
  const untilMs = performance.now() + withinMs;
  while (!(await answers(port))) {
    if (performance.now() > untilMs) throw new Error(`${what} does not listen`);
    await delay(50);
  }
};

export const startRedis = async (folder: string) => {
  const port = await freePort();
  const options = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
  const redis = startGroup(folder, "redis", { command: ["redis-server", ...options] });
  await untilListens("redis", port);
  return { env: { REDIS_PORT: `${port}` }, kill: redis.kill };
};

/** PostgreSQL refuses to run as root; Debian's package has made a user for it. */
const isRoot = process.getuid?.() === 0;
const asPostgres = isRoot ? ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] : [];

/** Where Debian keeps programs of PostgreSQL that are not in the path. */
const pathWithPostgres = `${process.env["PATH"]}:/usr/lib/postgresql/17/bin:/usr/lib/postgresql/15/bin`;

/** A cluster that was initialised once per bench, copied for each run. */
export const makePostgres = (folder: string): string => {
  const data = path.join(folder, "cluster");
  mkdirSync(data);
  if (isRoot) execFileSync("chown", ["-R", "postgres", folder]);
  const initdb = ["nice", "-n", "5", "initdb", "-D", data, "-U", "postgres", "-A", "trust", "--no-sync"];
  const [program = "", ...parameters] = [...asPostgres, ...initdb];
  execFileSync(program, parameters, {
    cwd: folder,
    stdio: "ignore",
    env: { ...process.env, PATH: pathWithPostgres },
  });
  return data;
};

export const startPostgres = async (cluster: string, folder: string, env: NodeJS.ProcessEnv) => {
  const data = path.join(path.dirname(cluster), path.basename(folder));
  cpSync(cluster, data, { recursive: true });
  if (isRoot) execFileSync("chown", ["-R", "postgres", data]);
  execFileSync("chmod", ["700", data]);
  const port = await freePort();
  const options = ["-D", data, "-p", `${port}`, "-h", "127.0.0.1", "-k", data, "-F"];
  const settings = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const postgres = startGroup(folder, "postgres", {
    // libfaketime's semaphore belongs to the user under whom it is loaded first.
    command: [...asPostgres, "env", ...settings, "postgres", ...options, "-c", "max_connections=200"],
    cwd: data,
    env: { PATH: pathWithPostgres },
  });
  await untilListens("PostgreSQL", port);
  const urls = {
    POSTGRES_URL: `postgres://postgres@127.0.0.1:${port}/postgres`,
    JDBC_URL: `jdbc:postgresql://127.0.0.1:${port}/postgres?user=postgres`,
  };
  return { env: urls, kill: postgres.kill };
};
