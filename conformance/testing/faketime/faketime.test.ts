import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { startProcess } from "../foreign/services.ts";
import { root } from "../measure.ts";
import { runHere } from "../run-here.ts";
import { faketimeEnvironment, faketimeLibrary } from "./library.ts";
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

const startService = async (environment: NodeJS.ProcessEnv): Promise<string> => {
  const clients = path.join(folder, "clients.json");
  writeFileSync(
    clients,
    JSON.stringify([{ id: "client-1", secret: "secret-1", redirectUri: "https://client.example/callback" }]),
  );
  const service = startProcess("python3", ["front.py", "memory", clients], {
    cwd: path.join(root, "conformance/testing/foreign/python"),
    env: { ...environment, PYTHONDONTWRITEBYTECODE: "1" },
  });
  return (await stopping(service)).baseUrl;
};

const profileFor = (name: string, baseUrl: string, file: string): string => {
  const profile = path.join(folder, `${name}.json`);
  const trigger = {
    http: { url: `${baseUrl}/test/events`, body: { accountId: "{{accountId}}" } },
    result: "/id",
  };
  writeFileSync(
    profile,
    JSON.stringify({
      baseUrl,
      clients: [
        { id: "client-1", secret: { env: "CLIENT_SECRET" }, redirectUri: "https://client.example/callback" },
      ],
      hooks: { clock: { faketime: { file } }, events: { trigger } },
    }),
  );
  return profile;
};

const conform = (out: string, profile: string, rules = LIFETIMES) =>
  runHere(["conform", "--profile", profile, "--only", rules.join(","), "--out", out], {
    env: { CLIENT_SECRET: "secret-1" },
  });

// Debian: apt-get install faketime.
describe.skipIf(faketimeLibrary === undefined || !hasPython)("a Python service under libfaketime", () => {
  it("passes the rules of 10-minute and 30-day lifetimes, with its clock moved by the file alone", async () => {
    const file = path.join(folder, "clock");
    writeFileSync(file, "+0");
    const profile = profileFor("followed", await startService(faketimeEnvironment(file)), file);
    const out = path.join(folder, "followed-run");
    const { exitCode, stdout } = await conform(out, profile);
    expect(stdout).toContain("passed");
    expect(exitCode).toBe(0);
    const run = JSON.parse(readFileSync(path.join(out, "run.json"), "utf8")) as {
      rules: readonly { id: string; verdict: { kind: string } }[];
    };
    expect(Object.fromEntries(run.rules.map(({ id, verdict }) => [id, verdict.kind]))).toEqual(
      Object.fromEntries(LIFETIMES.map((id) => [id, "passed"])),
    );
    expect(readFileSync(file, "utf8")).toMatch(/^\+\d{12}\.\d{6}\n$/);
  });

  it("fails code.lifetime if its codes live five seconds too long", async () => {
    const file = path.join(folder, "too-long");
    writeFileSync(file, "+3d");
    const profile = profileFor(
      "too-long",
      await startService({ ...faketimeEnvironment(file), CODE_LIFETIME_S: "605" }),
      file,
    );
    const out = path.join(folder, "too-long-run");
    const { exitCode, stdout } = await conform(out, profile, ["code.lifetime"]);
    expect(stdout).toContain("code.lifetime");
    expect(exitCode).toBe(1);
  });

  it("is refused with exit code 2 if it does not follow the file", async () => {
    const file = path.join(folder, "unread");
    writeFileSync(file, "+0");
    const profile = profileFor("unfollowed", await startService({}), file);
    const { exitCode, stderr } = await conform(path.join(folder, "unfollowed-run"), profile);
    expect(stderr).toContain(`the service's clock does not follow "${file}"`);
    expect(stderr).toContain("FAKETIME_NO_CACHE=1");
    expect(exitCode).toBe(2);
  });
});
