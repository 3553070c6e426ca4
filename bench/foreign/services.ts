import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Profile } from "../../conformance/contract/profile.ts";
import { run } from "../../conformance/testing/installed.ts";
import { startProgram } from "../../conformance/testing/start-cli.ts";

export interface ForeignClient {
  readonly id: string;
  readonly secret: string;
  readonly redirectUri: string;
}

export interface RunningService {
  readonly profile: Pick<Profile, "baseUrl" | "hooks" | "limits">;
  readonly stop: () => Promise<unknown>;
}

/** Where a service is started. */
interface Place {
  /** What is installed and built once. */
  readonly cache: string;
  /** A folder of this run. */
  readonly folder: string;
  readonly clients: readonly ForeignClient[];
}

/** A breach that is the implementation's own. */
interface Examined {
  /** What the verdict says of it; nothing that another fault makes it say. */
  readonly seen: RegExp;
  readonly theirs: string;
}

/** A third-party implementation behind a shim that translates the document's calls. */
export interface ForeignImplementation {
  readonly name: string;
  readonly language: string;
  /** Breaches that were examined in its source. Any other is a false alarm, also one of the same rule. */
  readonly examined: Partial<Record<RequirementId, Examined>>;
  /** Installs and builds what it needs, and starts it. */
  readonly start: (place: Place) => Promise<RunningService>;
}

const here = import.meta.dirname;

/** Starts a service that prints its address in its first line and ends when its input does. */
const startService = async (
  program: string,
  parameters: readonly string[],
  { folder, clients }: Pick<Place, "folder" | "clients">,
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) => {
  const file = path.join(folder, "clients.json");
  writeFileSync(file, JSON.stringify(clients), { mode: 0o600 });
  const started = startProgram(program, [...parameters, file], { ...options, holdsInput: true });
  const { baseUrl } = JSON.parse(await started.line()) as { readonly baseUrl: string };
  const events = {
    trigger: { http: { url: `${baseUrl}/test/events`, body: { accountId: "{{accountId}}" } }, result: "/id" },
  };
  return { baseUrl, events, stop: started.stop };
};

/** A service that has the hooks of a clock that can be advanced. */
const withClockHooks = async (starting: ReturnType<typeof startService>): Promise<RunningService> => {
  const { baseUrl, events, stop } = await starting;
  const clock = {
    now: { http: { url: `${baseUrl}/test/clock` } },
    advance: { http: { url: `${baseUrl}/test/clock/advance`, body: { ms: "{{ms}}" } } },
  };
  return { stop, profile: { baseUrl, hooks: { clock, events } } };
};

/** A virtual environment with the pinned requirements, created once. */
const pythonIn = async (cache: string): Promise<string> => {
  const requirements = path.join(here, "python/requirements.txt");
  const folder = path.join(cache, "python");
  const stamp = path.join(folder, "installed.txt");
  if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== readFileSync(requirements, "utf8")) {
    await run("python3", ["-m", "venv", folder], {});
    await run(path.join(folder, "bin/pip"), ["install", "--quiet", "--requirement", requirements], {});
    writeFileSync(stamp, readFileSync(requirements, "utf8"));
  }
  return path.join(folder, "bin/python");
};

/** Where Debian, Fedora and Alpine install libfaketime for programs with threads; undefined if it is not installed. */
export const faketimeLibrary = [
  "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
  "/usr/lib64/faketime/libfaketimeMT.so.1",
  "/usr/lib/faketime/libfaketimeMT.so.1",
].find((file) => existsSync(file));

/** The environment in which a program reads its time from the file. */
export const faketimeEnvironment = (file: string): NodeJS.ProcessEnv => ({
  LD_PRELOAD: faketimeLibrary,
  FAKETIME_TIMESTAMP_FILE: file,
  FAKETIME_NO_CACHE: "1",
});

/** Starts a service whose profile moves its clock by a file. It follows the file if it runs with this environment. */
const movedByFile = async (
  program: string,
  parameters: readonly string[],
  place: Pick<Place, "folder" | "clients">,
  { env, ...options }: { readonly cwd?: string; readonly env: (clockFile: string) => NodeJS.ProcessEnv },
): Promise<RunningService> => {
  const file = path.join(place.folder, "clock");
  if (!existsSync(file)) writeFileSync(file, "+0");
  const { baseUrl, events, stop } = await startService(program, parameters, place, {
    ...options,
    env: env(file),
  });
  return { stop, profile: { baseUrl, hooks: { clock: { faketime: { file } }, events } } };
};

export const startPython = (
  program: string,
  module: string,
  place: Pick<Place, "folder" | "clients">,
  env: (clockFile: string) => NodeJS.ProcessEnv = faketimeEnvironment,
): Promise<RunningService> =>
  movedByFile(program, ["front.py", module], place, {
    cwd: path.join(here, "python"),
    env: (file) => ({ ...env(file), PYTHONDONTWRITEBYTECODE: "1" }),
  });

const python =
  (module: string): ForeignImplementation["start"] =>
  async (place) =>
    startPython(await pythonIn(place.cache), module, place);

/** Go's standard package time with a movable Now: Go programs read the clock without libc, so libfaketime cannot move it. */
const overlayIn = async (cache: string): Promise<string> => {
  const { stdout: goroot } = await run("go", ["env", "GOROOT"], {});
  const source = path.join(goroot.trim(), "src/time/time.go");
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

const go: ForeignImplementation["start"] = async (place) => {
  const program = path.join(place.cache, "go-oauth2");
  const overlay = await overlayIn(place.cache);
  await run("go", ["build", "-overlay", overlay, "-o", program, "."], { cwd: path.join(here, "go") });
  return withClockHooks(startService(program, [], place));
};

const nodeProgram = fileURLToPath(new URL("node/main.ts", import.meta.url));

export const startNodeService = (place: Pick<Place, "folder" | "clients">): Promise<RunningService> =>
  withClockHooks(startService(process.execPath, [nodeProgram], place));

/** The same service under libfaketime. Its timers, which Node times by a monotonic clock, run in real time. */
export const startNodeUnderFaketime = (place: Pick<Place, "folder" | "clients">): Promise<RunningService> =>
  movedByFile(process.execPath, [nodeProgram], place, {
    env: (file) => ({ ...faketimeEnvironment(file), FAKETIME_DONT_FAKE_MONOTONIC: "1" }),
  });

/** RFC 6749 appendix A.5 allows every visible ASCII character in a state and sets no length; none of the libraries checks it. */
const anyState = {
  "authorize.state-charset": {
    seen: /U\+[\dA-F]{4}.*: it got a code that can be exchanged/,
    theirs: "a state is echoed whatever it holds (RFC 6749 appendix A.5)",
  },
  "authorize.state-length": {
    seen: /^it got a code that can be exchanged/,
    theirs: "a state may have any length (RFC 6749 sets none)",
  },
} as const;

const codeIsGone = {
  "code.reuse-revokes-tokens": {
    seen: /^its access token still worked after the second exchange, which got status 40[01], .*invalid_grant/,
    theirs:
      "a used code is deleted, so that its reuse cannot be told from a code that never was (RFC 6749 4.1.2 is a SHOULD)",
  },
} as const;

/** Two exchanges of one code at the same time. */
const raced = /^more than one of \d+ concurrent exchanges of one code got tokens/;

const ofDjangoToolkit: ForeignImplementation["examined"] = {
  ...anyState,
  ...codeIsGone,
  "refresh.lifetime": {
    seen: /^accepted at an age of at least 30 d/,
    theirs:
      "REFRESH_TOKEN_EXPIRE_SECONDS is looked at by the clean-up command alone: until that runs, refresh tokens work for ever",
  },
  "refresh.lifetime-is-from-issue": {
    seen: /^accepted at an age of at least 30 d/,
    theirs: "the same: refresh tokens have no end",
  },
  "refresh.reauthorize": {
    seen: /the refreshToken works beyond its 30 days/,
    theirs: "the same: the need to authorize again never comes",
  },
  "lifecycle.model": { seen: /^it succeeded: status 200/, theirs: "the same, found by a random history" },
  "refresh.reusable": {
    seen: /^one was refused: status 500, .*DoesNotExist/,
    theirs:
      "the token view looks up the access token that it has just made (views/base.py, for a signal); of two refreshes at the same time the second has overwritten it, and the first ends with status 500",
  },
};

export const foreignImplementations: readonly ForeignImplementation[] = [
  {
    name: "@node-oauth/oauth2-server 5.3.0",
    language: "JavaScript",
    start: startNodeService,
    examined: {
      ...anyState,
      ...codeIsGone,
      "service.survives-bad-input": {
        seen: /with (clientId|code) [[{].* got status 503/,
        theirs:
          "a clientId or code that is a list or an object passes its format check as text, and the store fails on it",
      },
    },
  },
  {
    name: "django-oauth-toolkit 3.4.1",
    language: "Python",
    start: python("django_toolkit"),
    examined: ofDjangoToolkit,
  },
  {
    name: "django-oauth-toolkit 3.4.1 guarded by django-axes 8.3.1",
    language: "Python",
    start: python("django_axes"),
    examined: {
      ...ofDjangoToolkit,
      "code.single-use": {
        seen: /^1 of \d+ cases could not be decided: the service keeps asking to retry later/,
        theirs:
          "a used code that is presented more than ten times in a row locks its client out, with status 429 (AXES_FAILURE_LIMIT, AXES_HTTP_RESPONSE_CODE)",
      },
    },
  },
  {
    name: "Authlib 1.9.9",
    language: "Python",
    start: async (place) => {
      const { profile, stop } = await python("authlib_flask")(place);
      return { stop, profile: { ...profile, limits: { codeLifetimeMs: 300_000 } } };
    },
    examined: {
      ...anyState,
      ...codeIsGone,
      "code.single-use-under-race": {
        seen: raced,
        theirs:
          "the code is looked up, tokens are made, and only then is it deleted: nothing keeps two exchanges apart",
      },
      "service.survives-bad-input": {
        seen: /clientSecret ".*[^\0-~].*" got status 500/,
        theirs: "a client secret with a character beyond ASCII makes its comparison raise TypeError",
      },
    },
  },
  {
    name: "go-oauth2/oauth2 4.5.4",
    language: "Go",
    start: go,
    examined: {
      ...anyState,
      ...codeIsGone,
      "code.single-use-under-race": {
        seen: raced,
        theirs:
          "getAndDelAuthorizationCode reads the code and deletes it in two steps; a deletion that finds nothing is no error",
      },
      "refresh.unknown-client": {
        seen: /clientId: it yielded a working accessToken/,
        theirs: "a refresh goes by the refresh token alone: the client is not looked at",
      },
      "refresh.bound-to-client": {
        seen: /it yielded a working accessToken/,
        theirs: "the same, with another client's id",
      },
      "access.lifetime": {
        seen: /^refused at an age of at most 59 min/,
        theirs:
          "the same as in lifecycle.model: the last of a history of refreshes ends near the end of the refresh token",
      },
      "lifecycle.model": {
        seen: /^it was refused/,
        theirs:
          "an access token that is refreshed near the end of the refresh token dies with it, although expiresIn says an hour (store/token.go shortens its life)",
      },
    },
  },
];
