import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { newClients, writeProfile } from "./judging.ts";
import { faketimeEnvironment, faketimeLibrary, startPython } from "./services.ts";
import { runHere } from "../run-here.ts";
import { stopAfterAll } from "../stopping.ts";
import { folderOfFile } from "../folders.ts";

const hasPython = spawnSync("python3", ["--version"]).status === 0;

const LIFETIMES = [
  "code.lifetime",
  "code.lifetime-is-not-extended",
  "refresh.lifetime",
  "refresh.lifetime-is-from-issue",
  "refresh.after-access-expiry",
  "refresh.reauthorize",
  "access.lifetime",
];

const stopping = stopAfterAll();
const folder = folderOfFile();
const clients = newClients("https://client.example/callback");

/** Starts a service whose clock file says this at first, judges it by these rules, and gives both and the run directory. */
const judged = async (
  name: string,
  startsAt: string,
  environment: (clockFile: string) => NodeJS.ProcessEnv,
  rules = LIFETIMES,
) => {
  const own = path.join(folder, name);
  mkdirSync(own);
  const clockFile = path.join(own, "clock");
  writeFileSync(clockFile, startsAt);
  const place = { folder: own, clients };
  const service = await stopping(startPython("python3", "memory", place, environment));
  const { profile, env } = writeProfile(own, name, clients, service);
  const out = path.join(own, "run");
  const flags = ["--profile", profile, "--only", rules.join(","), "--out", out];
  return { ...(await runHere(["conform", ...flags], { env })), out, clockFile };
};

// Debian: apt-get install faketime.
describe.skipIf(faketimeLibrary === undefined || !hasPython)("a Python service under libfaketime", () => {
  it("passes the rules of 10-minute and 30-day lifetimes, with its clock moved by the file alone", async () => {
    const { exitCode, stdout, out, clockFile } = await judged("followed", "+0", faketimeEnvironment);
    expect(stdout).toContain("passed");
    expect(exitCode).toBe(0);
    const run = JSON.parse(readFileSync(path.join(out, "run.json"), "utf8")) as {
      rules: readonly { id: string; verdict: { kind: string } }[];
    };
    expect(Object.fromEntries(run.rules.map(({ id, verdict }) => [id, verdict.kind]))).toEqual(
      Object.fromEntries(LIFETIMES.map((id) => [id, "passed"])),
    );
    expect(readFileSync(clockFile, "utf8")).toMatch(/^\+\d{12}\.\d{6}\n$/);
  });

  it("fails code.lifetime if its codes live five seconds too long", async () => {
    const environment = (file: string) => ({ ...faketimeEnvironment(file), CODE_LIFETIME_S: "605" });
    const { exitCode, stdout } = await judged("too-long", "+3d", environment, ["code.lifetime"]);
    expect(stdout).toContain("code.lifetime");
    expect(exitCode).toBe(1);
  });

  it("is refused with exit code 2 if it does not follow the file", async () => {
    const { exitCode, stderr, clockFile } = await judged("unfollowed", "+0", () => ({}));
    expect(stderr).toContain(`the service's clock does not follow "${clockFile}"`);
    expect(stderr).toContain("FAKETIME_NO_CACHE=1");
    expect(exitCode).toBe(2);
  });

  it("is refused with exit code 2 if it keeps what it read from the file", async () => {
    const environment = (file: string) => ({
      LD_PRELOAD: faketimeLibrary,
      FAKETIME_TIMESTAMP_FILE: file,
      // Long, so that no machine is too slow to ask twice meanwhile.
      FAKETIME_CACHE_DURATION: "60",
    });
    const { exitCode, stderr } = await judged("late", "+0", environment, ["code.lifetime"]);
    expect(stderr).toContain("FAKETIME_NO_CACHE=1");
    expect(exitCode).toBe(2);
  });

  it("is refused with exit code 2 if it reads a time that stands still in another time zone", async () => {
    const environment = (file: string) => ({ ...faketimeEnvironment(file), TZ: "Asia/Kolkata" });
    const { exitCode, stderr } = await judged("zone", "2026-01-31 12:00:00", environment, ["code.lifetime"]);
    expect(stderr).toMatch(/it runs in another time zone; start touchstone with the TZ of the service/);
    expect(exitCode).toBe(2);
  });

  it("passes with a time that stands still in its own time zone", async () => {
    const environment = (file: string) => ({ ...faketimeEnvironment(file), TZ: process.env["TZ"] });
    const { exitCode } = await judged("still", "2026-01-31 12:00:00", environment, ["code.lifetime"]);
    expect(exitCode).toBe(0);
  });
});
