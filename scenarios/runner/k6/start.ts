import path from "node:path";
import { once } from "node:events";
import { errorMessage } from "../../../conformance/contract/text.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileMode } from "../../../conformance/contract/files.ts";
import { settingsVariable, type ScriptSettings, logMark, type ScriptMessage } from "../../protocol.ts";
import type { RunnerClock } from "../clock.ts";
import { temporaryFolder, type PassingFolder } from "../../../conformance/files/folders.ts";
import { watchdog, type Watchdog } from "../watchdog.ts";
import { k6Environment, outputFlags, type K6Output } from "./outputs.ts";
import { endOf, type K6End } from "./exit.ts";
import { type FoundK6, isAtLeast } from "./find.ts";
import { segmentFlags } from "../segment-plan.ts";
import { isObject, parseJson } from "../../../conformance/contract/json.ts";
import { createServer, type AddressInfo } from "node:net";

export interface StartOptions {
  readonly k6: Pick<FoundK6, "path" | "version">;
  readonly script: string;
  readonly settings: ScriptSettings;
  readonly environment: NodeJS.ProcessEnv;
  readonly clock: RunnerClock;
  readonly output?: K6Output | undefined;
  /** Bytes of k6's samples as CSV; overwritten after the call. */
  readonly onSamples: (bytes: Uint8Array) => void;
  readonly onLog: (line: LogLine) => void;
  /** Receives the address of k6's dashboard once it is up. */
  readonly onDashboard?: ((address: string) => void) | undefined;
}

export interface RunningK6 {
  readonly pid: number;
  /** User environment variables withheld from it. */
  readonly ignored: readonly string[];
  /** Tells k6 to end: it stops its iterations and writes its remaining samples, or is killed after ten seconds. */
  readonly stop: () => void;
  /**
   * Settles when k6 has ended and all its samples and log lines were delivered. Rejects with K6Failed if they could not
   * be read; k6 has ended then, too.
   */
  readonly ended: Promise<K6End>;
}

/** How often k6 writes its samples. */
const FLUSH_EVERY = "200ms";
/** How long k6 may take to end once it is asked to. */
export const k6GraceMs = 10_000;
/** How long browsers may take to notice that the load is over. */
const FAREWELL_MS = 1_000;

/**
 * Starts k6 on a script. Secrets are passed in a settings file that only its owner may read, in a folder that is deleted
 * when k6 has ended; samples come back on its standard output. Throws K6Failed if it cannot be started.
 */
export const startK6 = async (options: StartOptions): Promise<RunningK6> => {
  const folder = temporaryFolder("k6");
  const dog = watchdog(folder.path);
  try {
    return await startIn(folder, dog, options);
  } catch (error) {
    dog.callOff();
    folder[Symbol.dispose]();
    throw error;
  }
};

const startIn = async (folder: PassingFolder, dog: Watchdog, options: StartOptions): Promise<RunningK6> => {
  const { k6, script, output, clock, onSamples, onLog } = options;
  const { config, variables, ignored } = prepare(folder.path, options);
  let asked = false;
  const port = output?.name === "web-dashboard" ? await freePort() : undefined;
  const parameters = [...argumentsFor(options, config), ...outputFlags(output, port), script];
  const child = spawn(k6.path, parameters, {
    cwd: folder.path,
    env: variables,
    stdio: ["ignore", "pipe", "pipe"],
    // In its own process group: Ctrl-C reaches only us, and we stop k6.
    detached: true,
  });
  if (child.pid !== undefined) dog.guard(child.pid, "INT");
  const { stdout, stderr } = child;
  const samples = readSamples(stdout, clock, onSamples);
  // Without its samples the load is useless.
  samples.catch(() => child.kill("SIGKILL"));
  createInterface({ input: stderr, crlfDelay: Infinity }).on("line", (line) => onLog(readLogLine(line)));
  const logEnded = new Promise<void>((resolve) => stderr.once("close", () => resolve()));
  const exited = exitOf(child);
  // Later errors, such as of a signal that cannot be sent, end in `exited`.
  child.on("error", () => undefined);
  await once(child, "spawn").catch((error: unknown) => {
    throw new K6Failed(`${k6.path} could not be started (${errorMessage(error)})`, { cause: error });
  });
  const { pid } = child;
  if (pid === undefined) throw new K6Failed(`${k6.path} started without a process id`);
  const stop = (): void => {
    // A second signal would make k6 drop everything immediately.
    if (asked) return;
    asked = true;
    child.kill("SIGINT");
    const cancel = clock.after(k6GraceMs, () => child.kill("SIGKILL"));
    void exited.finally(cancel);
  };
  const isOver = port === undefined ? undefined : endWithLoad(child, exited, port, options);
  const finish = async (): Promise<K6End> => {
    try {
      const [exitCode, signal] = await exited;
      await Promise.all([samples, logEnded]);
      // Killed by us, although it was not asked to end: it was through with the load.
      return exitCode === null && !asked && (await isOver) === true
        ? endOf(0, null, asked)
        : endOf(exitCode, signal, asked);
    } finally {
      dog.callOff();
      folder[Symbol.dispose]();
    }
  };
  return { pid, ignored, stop, ended: finish() };
};

/** Ends k6 when the load is over, whatever browsers still show its dashboard. Resolves with whether the load was over. */
const endWithLoad = async (
  child: ChildProcess,
  exited: Promise<unknown>,
  port: number,
  { clock, onDashboard }: StartOptions,
): Promise<boolean> => {
  const address = `http://127.0.0.1:${port}/`;
  const gone = new AbortController();
  void exited.then(() => gone.abort());
  const isOver = await dashboardStops(address, {
    clock,
    signal: gone.signal,
    onUp: () => onDashboard?.(address),
  });
  if (isOver) clock.after(FAREWELL_MS, () => child.kill("SIGKILL"));
  return isOver;
};

/** k6 could not be started or read: a failure of the harness or of this machine. */
export class K6Failed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "K6Failed";
  }
}

/**
 * k6 writes bursts of 4 KiB. Waking up for each costs more than reading it; during this short rest the pipe fills, and
 * only k6's writing goroutine waits.
 */
const REST_MS = 3;

/** Resolves when everything was read; rejects with K6Failed if reading failed or the reader threw. */
const readSamples = async (
  stdout: Readable,
  clock: Pick<RunnerClock, "sleep">,
  onBytes: StartOptions["onSamples"],
): Promise<void> => {
  try {
    for await (const bytes of stdout) {
      onBytes(bytes as Buffer);
      await clock.sleep(REST_MS);
    }
  } catch (error) {
    throw new K6Failed(`k6's samples could not be read (${errorMessage(error)})`, { cause: error });
  }
};

const prepare = (folder: string, { k6, settings, environment, output }: StartOptions) => {
  const at = (name: string): string => path.join(folder, name);
  const [settingsFile, config] = [at("settings.json"), at("config.json")];
  writeFileSync(settingsFile, JSON.stringify(settings), { mode: fileMode });
  // The user's own k6 configuration would change the load; an empty one replaces it.
  writeFileSync(config, "{}", { mode: fileMode });
  const { variables, ignored } = k6Environment(
    environment,
    {
      [settingsVariable]: settingsFile,
      K6_CSV_SAVE_INTERVAL: FLUSH_EVERY,
      ...(hasSummaryMode(k6.version) ? {} : { K6_NO_SUMMARY: "true" }),
    },
    output,
  );
  return { config, variables, ignored };
};

/** Version 1.3 introduced the mode in which k6 keeps no samples for a summary; version 2 removed the older switch. */
const hasSummaryMode = (version: string): boolean => isAtLeast(version, 1, 3);

const argumentsFor = (
  { k6: { version }, output, settings: { segment, preflight } }: StartOptions,
  config: string,
): readonly string[] => [
  "run",
  `--config=${config}`,
  "--quiet",
  "--no-color",
  ...(hasSummaryMode(version) ? ["--summary-mode=disabled"] : []),
  "--no-thresholds",
  "--no-usage-report",
  // No REST API: two runs on one machine would use the same port.
  "--address=",
  "--log-format=json",
  // Only another output has a use for k6's own tags, and each of its samples costs with them.
  `--system-tags=${output === undefined ? "" : "name,status,error_code,expected_response"}`,
  "--out=csv=-",
  // A single iteration cannot be dealt out: each segment runs its own preflight.
  ...(segment === undefined || preflight ? [] : segmentFlags(segment)),
];

const exitOf = (child: ChildProcess): Promise<readonly [number | null, string | null]> =>
  new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve([code, signal]));
  });

/** A line of k6's log: a message of a script, or k6's own text. */
export type LogLine =
  | { readonly kind: "message"; readonly message: ScriptMessage }
  /** An iteration threw an exception, which ends the iteration but not the run. */
  | { readonly kind: "exception"; readonly text: string }
  | { readonly kind: "words"; readonly level: string; readonly text: string };

/** Parses a line written by k6 with `--log-format json`. Any other line counts as an error text. */
export const readLogLine = (line: string): LogLine => {
  const entry = parseJson(line);
  if (!isObject(entry) || typeof entry["msg"] !== "string")
    return { kind: "words", level: "error", text: line };
  const level = typeof entry["level"] === "string" ? entry["level"] : "error";
  const { msg } = entry;
  if (msg.startsWith(logMark)) {
    const message = parseJson(msg.slice(logMark.length));
    if (isMessage(message)) return { kind: "message", message };
  }
  if (entry["source"] === "stacktrace") return { kind: "exception", text: msg.trim() };
  const error = typeof entry["error"] === "string" ? `: ${entry["error"]}` : "";
  return { kind: "words", level, text: `${msg}${error}` };
};

/** Written by our own scripts, so their kind identifies them. */
const isMessage = (value: unknown): value is ScriptMessage =>
  isObject(value) && ["breach", "trouble", "set-up"].includes(String(value["kind"]));

/** A port of loopback that is free at this moment. */
const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
};

const TRY_AGAIN_MS = 100;
const STOPS = "\nevent: stop\n";

/**
 * Reads the events of k6's dashboard, and resolves with true once they say that the load has ended: other outputs have
 * ended before, and k6 waits until the last browser has left. False if k6 ended without saying so.
 */
const dashboardStops = async (
  address: string,
  {
    clock,
    signal,
    onUp,
  }: { readonly clock: RunnerClock; readonly signal: AbortSignal; readonly onUp: () => void },
): Promise<boolean> => {
  try {
    const events = await eventsOf(address, clock, signal);
    onUp();
    let text = "";
    for await (const part of events.pipeThrough(new TextDecoderStream())) {
      text = text.slice(-STOPS.length) + part;
      if (text.includes(STOPS)) return true;
    }
  } catch {
    // The connection ends with k6.
  }
  return false;
};

/** Rejects when the signal aborts. */
const eventsOf = async (address: string, clock: RunnerClock, signal: AbortSignal) => {
  for (;;) {
    const answer = await fetch(`${address}events`, { signal }).catch(() => undefined);
    if (answer?.body) return answer.body;
    await clock.sleep(TRY_AGAIN_MS, signal);
  }
};
