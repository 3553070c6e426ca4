import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { RequirementId } from "../../conformance/contract/catalogue.ts";
import type { Profile } from "../../conformance/contract/profile.ts";
import { run } from "../../conformance/testing/installed.ts";
import { pythonWith } from "../installed-once.ts";
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

/** The same, while what is timed by a monotonic clock goes on in real time. */
const withRealMonotonic = (file: string): NodeJS.ProcessEnv => ({
  ...faketimeEnvironment(file),
  FAKETIME_DONT_FAKE_MONOTONIC: "1",
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

export const python =
  (module: string): ForeignImplementation["start"] =>
  async (place) => {
    const cwd = path.join(here, "python");
    const program = await pythonWith(place.cache, cwd);
    return movedByFile(program, ["front.py", module], place, {
      cwd,
      env: (file) => ({ ...faketimeEnvironment(file), PYTHONDONTWRITEBYTECODE: "1" }),
    });
  };

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

export const go: ForeignImplementation["start"] = async (place) => {
  const program = path.join(place.cache, "go-oauth2");
  const overlay = await overlayIn(place.cache);
  await run("go", ["build", "-overlay", overlay, "-o", program, "."], { cwd: path.join(here, "go") });
  return withClockHooks(startService(program, [], place));
};

/** Its threads wait by a monotonic clock, which therefore stays as it is. */
export const rust: ForeignImplementation["start"] = async (place) => {
  const target = path.join(place.cache, "rust");
  const built = ["build", "--release", "--locked", "--quiet", "--target-dir", target];
  await run("cargo", built, { cwd: path.join(here, "rust") });
  return movedByFile(path.join(target, "release/foreign"), [], place, { env: withRealMonotonic });
};

const nodeProgram = fileURLToPath(new URL("node/main.ts", import.meta.url));

export const startNodeService = (place: Pick<Place, "folder" | "clients">): Promise<RunningService> =>
  withClockHooks(startService(process.execPath, [nodeProgram], place));
