import { spawn } from "node:child_process";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import type { RunnerClock } from "./clock.ts";
import { killGroup, watchdog } from "./watchdog.ts";
import { ConfigurationError, UnreachableError } from "../../conformance/contract/problem.ts";

export interface StartOptions {
  /** For the shell, in the working folder of this process. */
  readonly command: string;
  readonly flag: string;
  readonly baseUrl: string;
  /** How long until something must answer at baseUrl. */
  readonly withinMs: number;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: RunnerClock;
  readonly signal: AbortSignal;
}

const POLL_MS = 100;
/** Time for a command to end in order before it is killed. */
const GRACE_MS = 5_000;
const MOST_OUTPUT = 2_000;

/**
 * Starts a service by its command and waits until it answers at baseUrl with any status. It gets its own process group,
 * so that Ctrl-C ends the load before the service, and everything started by a shell or script ends with it. If this
 * process is killed, its watchdog ends the group. A daemon that leaves the group is out of reach. Throws
 * ConfigurationError, with the end of the command's output, if something already answers there or the command ends
 * before anything does; UnreachableError if it takes too long.
 */
export const startTarget = async (options: StartOptions) => {
  const { command, flag, baseUrl, withinMs, environment, clock, signal } = options;
  if (await answers(baseUrl))
    throw new ConfigurationError([
      `${flag}: something already answers at ${baseUrl}; stop it, or remove ${flag} to load that`,
    ]);
  const dog = watchdog();
  const child = spawn("/bin/sh", ["-c", command], {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: environment,
  });
  if (child.pid !== undefined) dog.guard(-child.pid, "TERM");
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-MOST_OUTPUT)));
  let ended: string | undefined;
  const end = new Promise<void>((resolve) => {
    child.once("error", (error) => ((ended = error.message), resolve()));
    child.once("exit", (code, by) => ((ended = `it ended with ${by ?? `exit code ${code}`}`), resolve()));
  });
  const kill = (by: NodeJS.Signals): void => killGroup(child.pid, by);
  // However this process ends, the service must not outlive it.
  const onExit = (): void => kill("SIGKILL");
  process.once("exit", onExit);
  const stop = async (): Promise<void> => {
    kill("SIGTERM");
    const late = new AbortController();
    await Promise.race([end, clock.sleep(GRACE_MS, late.signal).catch(() => undefined)]);
    late.abort();
    // Even if the shell has ended: its children may not have.
    kill("SIGKILL");
    dog.callOff();
    process.off("exit", onExit);
  };
  const latestMs = clock.nowMs() + withinMs;
  const failure = (): Error | undefined => {
    if (ended !== undefined)
      return new ConfigurationError(`${flag}: ${ended} before anything answered at ${baseUrl}${tail(said)}`);
    const late = `nothing answers at ${baseUrl} after ${withinMs / 1_000} s${tail(said)}`;
    if (clock.nowMs() > latestMs) return new UnreachableError(`${flag}: ${late}`);
    return signal.aborted
      ? new ConfigurationError(`${flag}: interrupted while waiting for ${baseUrl}`)
      : undefined;
  };
  while (!(await answers(baseUrl))) {
    const why = failure();
    if (why !== undefined) {
      await stop();
      throw why;
    }
    await clock.sleep(POLL_MS, signal).catch(() => undefined);
  }
  return { stop };
};

const tail = (said: string): string => (said.trim() === "" ? "" : `; it printed:\n${said.trim()}`);

/** Whether anything speaks HTTP there; the load itself checks certificates. */
const answers = (baseUrl: string): Promise<boolean> =>
  new Promise((resolve) => {
    const url = new URL(baseUrl);
    const settings = { method: "GET", agent: false, timeout: 2_000 } as const;
    const asked =
      url.protocol === "https:"
        ? httpsRequest(url, { ...settings, rejectUnauthorized: false })
        : httpRequest(url, settings);
    asked.once("response", (response) => {
      response.destroy();
      resolve(true);
    });
    asked.once("timeout", () => asked.destroy());
    asked.once("close", () => resolve(false));
    asked.on("error", () => resolve(false));
    asked.end();
  });
