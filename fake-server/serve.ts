import { rm, rmdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileReason } from "../conformance/contract/files.ts";
import { given } from "../conformance/contract/given.ts";
import { jsonFile } from "../conformance/contract/harmless-text.ts";
import { ConfigurationError } from "../conformance/contract/problem.ts";
import { findBehaviour } from "./behaviours.ts";
import { parseClients } from "./clients.ts";
import type { ClockMode } from "./clock.ts";
import { aborted, readJson } from "./serving.ts";
import type { FakeBehaviour } from "./registry.ts";
import { type FakeServer, type FakeServerOptions, startService } from "./start.ts";
import type { FetchedProfile } from "../conformance/contract/profile-fetched.ts";
import type { InProcessHooks } from "../conformance/contract/profile-fetched.ts";
import { spawn, type ChildProcess } from "node:child_process";
import { temporaryFolder } from "../conformance/files/folders.ts";
import { exitCodes } from "../conformance/contract/exit-codes.ts";

/** The options of `touchstone serve`. */
export type ServeOptions = Pick<
  FakeServerOptions,
  "port" | "controlPort" | "seed" | "startTimeMs" | "limits" | "dataDirectory" | "patienceMs"
> & {
  /** With `real`, the profile has no hooks for the clock. */
  readonly clockMode?: ClockMode | "real";
  readonly behaviour?: string;
  /** The path of a JSON file: an array of { id, secret, redirectUri }. */
  readonly clientsFile?: string;
  /** Where to write a profile for this service; the clients' secrets go into files beside it. */
  readonly profileFile?: string;
  /**
   * Whether to remove the profile and its secrets when the service ends, even if the process that started it is gone.
   */
  readonly removesProfile?: boolean;
};

/** Printed once the service listens. Client secrets are not shown. */
export type Addresses = ReturnType<typeof addressesOf>;

export interface ServeIo {
  /** Called once, when both ports listen. */
  readonly listening: (addresses: Addresses) => void;
  /** Ends the service. */
  readonly signal: AbortSignal;
}

/** Runs the service until `io.signal` aborts. Rejects with ConfigurationError before printing anything. */
export const serve = async (
  { behaviour = "sound", clientsFile, profileFile, removesProfile = false, ...options }: ServeOptions,
  io: ServeIo,
): Promise<void> => {
  const clients =
    clientsFile === undefined
      ? {}
      : { clients: parseClients(await readJson("--clients", clientsFile, "the clients' secrets")) };
  const served = findBehaviour(behaviour);
  const { clockMode: asked, limits } = options;
  const clockMode = clockModeOf(served, asked === "real" ? "flowing" : asked);
  const server = await startService({ ...options, ...clients, behaviour: served, clockMode });
  if (profileFile !== undefined)
    await writeProfile(profileFile, server, { isReal: asked === "real", limits }).catch(
      async (error: unknown) => {
        await server.stop();
        throw new ConfigurationError(
          `--write-profile: ${profileFile} cannot be written (${fileReason(error)})`,
          {
            cause: error,
          },
        );
      },
    );
  io.listening(addressesOf(server));
  await aborted(io.signal);
  if (removesProfile && profileFile !== undefined) await removeProfile(profileFile, server);
  await server.stop();
};

/** Some behaviours need a certain kind of clock; otherwise it is the requested one, or one that flows with real time. */
const clockModeOf = ({ name, clockMode: own }: FakeBehaviour, asked: ClockMode | undefined): ClockMode => {
  if (own !== undefined && asked !== undefined && own !== asked)
    throw new ConfigurationError([
      `--clock ${asked}: the behaviour "${name}" needs a ${own} clock; omit --clock`,
    ]);
  return own ?? asked ?? "flowing";
};

/** Writes a profile for this service, and each client's secret into a separate file that only the owner can read. */
const writeProfile = async (
  file: string,
  server: FakeServer,
  { isReal, limits }: { readonly isReal: boolean; readonly limits: ServeOptions["limits"] },
): Promise<void> => {
  const profile = profileOf(server);
  const { clock, ...hooks } = profile.hooks ?? {};
  const secretFiles = profile.clients.map((_, index) => `${path.basename(file)}.secret-${index + 1}`);
  for (const [index, name] of secretFiles.entries())
    await writeFile(path.join(path.dirname(file), name), `${server.clients[index]?.secret ?? ""}\n`, {
      mode: 0o600,
    });
  const clients = profile.clients.map((client, index) => ({
    ...client,
    secret: { file: secretFiles[index] ?? "" },
  }));
  const name = `fake (${server.behaviour})`;
  const moved = isReal ? hooks : { clock, ...hooks };
  await writeFile(file, jsonFile({ ...profile, name, clients, ...given({ limits }), hooks: moved }));
};

/** Removes what `writeProfile` wrote, including the folder if it is otherwise empty. */
const removeProfile = async (file: string, server: FakeServer): Promise<void> => {
  for (const name of [file, ...profileOf(server).clients.map((_, index) => `${file}.secret-${index + 1}`)])
    await rm(name, { force: true });
  await rmdir(path.dirname(file)).catch(() => undefined);
};

const addressesOf = ({ baseUrl, controlUrl, behaviour, clockMode, clients }: FakeServer) => ({
  baseUrl,
  controlUrl,
  behaviour,
  clockMode,
  clients: clients.map(({ id, redirectUri }) => ({ id, redirectUri })),
});

export const secretVariable = (index: number): string => `TOUCHSTONE_FAKE_SECRET_${index + 1}`;

/** The profile for judging a running fake, only over its sockets and its control interface. */
export const profileOf = (server: FakeServer): FetchedProfile => ({
  name: `embedded fake (${server.behaviour})`,
  baseUrl: server.baseUrl,
  clients: server.clients.slice(0, 2).map(({ id, redirectUri }, index) => ({
    id,
    secret: { env: secretVariable(index) },
    redirectUri,
  })),
  hooks: {
    clock: {
      now: { http: { url: `${server.controlUrl}/clock` }, result: "/now" },
      advance: { http: { url: `${server.controlUrl}/clock/advance`, body: { ms: "{{ms}}" } } },
    },
    events: {
      trigger: {
        http: {
          url: `${server.controlUrl}/events`,
          body: { accountId: "{{accountId}}", clientId: "{{clientId}}" },
        },
        result: "/id",
      },
    },
    callback: {
      register: {
        http: { method: "PUT", url: `${server.controlUrl}/callback`, body: { url: "{{url}}", ca: "{{ca}}" } },
      },
    },
  },
});

/** The secrets that the profile refers to, by variable name. */
export const secretsOf = (server: FakeServer): Record<string, string> =>
  Object.fromEntries(server.clients.slice(0, 2).map(({ secret }, index) => [secretVariable(index), secret]));

/** The profile's hooks for a fake in this process, which needs no request for them. */
export const inProcessHooksOf = ({ operations }: FakeServer): InProcessHooks => ({
  "clock.now": operations.clock,
  "clock.advance": ({ ms }) => operations.advance({ ms }),
  "events.trigger": ({ accountId, clientId }) => operations.raise({ accountId, clientId }),
  "callback.register": ({ url, ca }) => operations.register({ url, ca }),
});

/**
 * Starts the fake in a separate process, so that load on it takes no CPU time from the measuring process. `program` is
 * Touchstone's own command line. The process ends with this one in all cases, because it lives as long as its standard
 * input. Rejects with ConfigurationError if that process exits with the exit code for one. The profile is for it; its
 * secrets are in files beside it, which only the owner can read.
 */
export const startFakeProcess = async (program: readonly [string, ...string[]], behaviour: string) => {
  const folder = temporaryFolder("fake");
  const profileFile = path.join(folder.path, "profile.json");
  const [command, ...parameters] = program;
  const child = spawn(
    command,
    [
      ...parameters,
      "serve",
      "--json",
      "--while-stdin",
      "--behaviour",
      behaviour,
      "--write-profile",
      profileFile,
    ],
    // A separate process group: Ctrl-C is for this process, which ends the load before the service.
    { stdio: ["pipe", "pipe", "pipe"], detached: true },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await ended;
    folder[Symbol.dispose]();
  };
  try {
    await listening(child);
  } catch (error) {
    await stop();
    throw error;
  }
  return { profileFile, stop };
};

const listening = (child: ChildProcess): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = "";
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-4_000)));
    child.stdin?.on("error", () => undefined);
    child.stdout?.once("data", () => resolve());
    child.stdout?.resume();
    child.once("error", (error) => reject(error));
    child.once("close", (code) => {
      const why = said.trim().replace(/^touchstone: /, "") || `it ended with exit code ${code}`;
      reject(
        code === exitCodes.usage ? new ConfigurationError(why) : new Error(`the fake did not start: ${why}`),
      );
    });
  });
