import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import type { RequirementId } from "../../contract/catalogue.ts";
import type { Profile } from "../../contract/profile.ts";
import { startForeignService } from "../foreign-service/start.ts";
import { faketimeEnvironment } from "../faketime/library.ts";
import { root } from "../measure.ts";

export interface ForeignClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

export interface RunningService {
  readonly profile: Pick<Profile, "baseUrl" | "hooks" | "limits" | "tolerances">;
  readonly stop: () => Promise<void>;
}

/** A third-party implementation behind a shim that translates the document's calls. */
export interface ForeignImplementation {
  readonly name: string;
  readonly language: string;
  /** Breaches that were examined in its source, each with what the implementation does. Any other is a false alarm. */
  readonly examined: Partial<Record<RequirementId, string>>;
  /** Installs and builds what it needs into `cache`, and starts it. `folder` belongs to this run. */
  readonly start: (
    clients: readonly ForeignClient[],
    where: { readonly cache: string; readonly folder: string },
  ) => Promise<RunningService>;
}

const here = import.meta.dirname;

const run = (command: string, parameters: readonly string[], options: { cwd?: string; env?: object } = {}) =>
  execFileSync(command, parameters, {
    stdio: ["ignore", "ignore", "inherit"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
  });

/** Starts a process that prints its address in its first line and ends when its input does. */
export const startProcess = async (
  command: string,
  parameters: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<{ readonly baseUrl: string; readonly stop: () => Promise<void> }> => {
  const child = spawn(command, parameters, {
    stdio: ["pipe", "pipe", "inherit"],
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...process.env, ...options.env },
  });
  const ended = once(child, "exit");
  const line = once(createInterface(child.stdout), "line");
  const [first] = (await Promise.race([line, ended])) as [unknown];
  if (typeof first !== "string") throw new Error(`${command} ended at once, with code ${String(first)}`);
  return {
    baseUrl: (JSON.parse(first) as { baseUrl: string }).baseUrl,
    stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
};

const clientsIn = (folder: string, clients: readonly ForeignClient[]): string => {
  const file = path.join(folder, "clients.json");
  writeFileSync(file, JSON.stringify(clients), { mode: 0o600 });
  return file;
};

const triggerAt = (baseUrl: string) => ({
  trigger: { http: { url: `${baseUrl}/test/events`, body: { accountId: "{{accountId}}" } }, result: "/id" },
});

/** A virtual environment with the pinned requirements, created once. */
const pythonIn = (cache: string): string => {
  const requirements = path.join(here, "python/requirements.txt");
  const folder = path.join(cache, "python");
  const stamp = path.join(folder, "installed.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== readFileSync(requirements, "utf8")) {
    run("python3", ["-m", "venv", folder]);
    run(path.join(folder, "bin/pip"), ["install", "--quiet", "--requirement", requirements]);
    writeFileSync(stamp, readFileSync(requirements, "utf8"));
  }
  return path.join(folder, "bin/python");
};

/** A Python implementation under libfaketime. */
const python =
  (module: string, more: Pick<Profile, "limits" | "tolerances"> = {}): ForeignImplementation["start"] =>
  async (clients, { cache, folder }) => {
    const file = path.join(folder, "clock");
    writeFileSync(file, "+0");
    const { baseUrl, stop } = await startProcess(
      pythonIn(cache),
      ["front.py", module, clientsIn(folder, clients)],
      { cwd: path.join(here, "python"), env: { ...faketimeEnvironment(file), PYTHONDONTWRITEBYTECODE: "1" } },
    );
    return {
      stop,
      profile: { ...more, baseUrl, hooks: { clock: { faketime: { file } }, events: triggerAt(baseUrl) } },
    };
  };

/** Go's standard package time with a movable Now: Go programs read the clock without libc, so libfaketime cannot move it. */
const overlayIn = (cache: string): string => {
  const goroot = execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim();
  const source = path.join(goroot, "src/time/time.go");
  const replacement = path.join(cache, "go-time.go");
  const text = readFileSync(source, "utf8").replace("\nfunc Now() Time {", "\nfunc realNow() Time {");
  const moved = [
    "// Offset is added to the time that Now tells, in nanoseconds.",
    "var Offset int64",
    "",
    "func Now() Time { return realNow().Round(0).Add(Duration(Offset)) }",
    "",
  ];
  writeFileSync(replacement, `${text}\n${moved.join("\n")}`);
  const overlay = path.join(cache, "go-overlay.json");
  writeFileSync(overlay, JSON.stringify({ Replace: { [source]: replacement } }));
  return overlay;
};

const go: ForeignImplementation["start"] = async (clients, { cache, folder }) => {
  const program = path.join(cache, "go-oauth2");
  mkdirSync(cache, { recursive: true });
  run("go", ["build", "-overlay", overlayIn(cache), "-o", program, "."], { cwd: path.join(here, "go") });
  const { baseUrl, stop } = await startProcess(program, [clientsIn(folder, clients)]);
  return {
    stop,
    profile: {
      baseUrl,
      hooks: {
        clock: {
          now: { http: { url: `${baseUrl}/test/clock` } },
          advance: { http: { url: `${baseUrl}/test/clock/advance`, body: { ms: "{{ms}}" } } },
        },
        events: triggerAt(baseUrl),
      },
    },
  };
};

const node: ForeignImplementation["start"] = async (clients, { folder }) => {
  const service = await startForeignService({
    store: path.join(folder, "store.sqlite"),
    clients: clientsIn(folder, clients),
  });
  const at = service.controlUrl;
  return {
    stop: async () => void (await service.stop()),
    profile: {
      baseUrl: service.baseUrl,
      hooks: {
        clock: {
          now: { http: { url: `${at}/clock` } },
          advance: { http: { url: `${at}/clock/advance`, body: { ms: "{{ms}}" } } },
        },
        events: { trigger: { http: { url: `${at}/events`, body: { accountId: "{{accountId}}" } } } },
      },
    },
  };
};

/** RFC 6749 appendix A.5 allows every visible ASCII character in a state and sets no length; none of the libraries checks it. */
const anyState = {
  "authorize.state-charset": "a state is echoed whatever it holds (RFC 6749 appendix A.5)",
  "authorize.state-length": "a state may have any length (RFC 6749 sets none)",
} as const;

const codeIsGone = {
  "code.reuse-revokes-tokens":
    "a used code is deleted, so that its reuse cannot be told from a code that never was (RFC 6749 4.1.2 is a SHOULD)",
} as const;

export const foreignImplementations: readonly ForeignImplementation[] = [
  {
    name: "@node-oauth/oauth2-server 5.3.0",
    language: "JavaScript",
    start: node,
    examined: {
      ...anyState,
      ...codeIsGone,
      "service.survives-bad-input":
        "a clientId that is a list or an object passes its format check as text, and the store fails on it",
    },
  },
  {
    name: "django-oauth-toolkit 3.4.1",
    language: "Python",
    start: python("django_toolkit"),
    examined: {
      ...anyState,
      ...codeIsGone,
      "refresh.lifetime":
        "REFRESH_TOKEN_EXPIRE_SECONDS is looked at by the clean-up command alone: until that runs, refresh tokens work for ever",
      "refresh.lifetime-is-from-issue": "the same: refresh tokens have no end",
      "refresh.reauthorize": "the same: the need to authorize again never comes",
      "lifecycle.model": "the same, found by a random history",
      "refresh.reusable":
        "the token view looks up the access token that it has just made (views/base.py, for a signal); of two refreshes at the same time the second has overwritten it, and the first ends with status 500",
    },
  },
  {
    name: "Authlib 1.9.9",
    language: "Python",
    start: python("authlib_flask", { limits: { codeLifetimeMs: 300_000 } }),
    examined: {
      ...anyState,
      ...codeIsGone,
      "code.single-use-under-race":
        "the code is looked up, tokens are made, and only then is it deleted: nothing keeps two exchanges apart",
      "service.survives-bad-input":
        "a client secret with a character beyond ASCII makes its comparison raise TypeError",
    },
  },
  {
    name: "go-oauth2/oauth2 4.5.4",
    language: "Go",
    start: go,
    examined: {
      ...anyState,
      ...codeIsGone,
      "code.single-use-under-race":
        "getAndDelAuthorizationCode reads the code and deletes it in two steps; a deletion that finds nothing is no error",
      "refresh.unknown-client": "a refresh goes by the refresh token alone: the client is not looked at",
      "refresh.bound-to-client": "the same, with another client's id",
      "access.lifetime":
        "the same as in lifecycle.model: the last of a history of refreshes ends near the end of the refresh token",
      "lifecycle.model":
        "an access token that is refreshed near the end of the refresh token dies with it, although expiresIn says an hour (store/token.go shortens its life)",
    },
  },
];

export const cacheFolder = path.join(root, "node_modules/.cache/foreign");
