import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { describe, expect, it } from "vitest";
import type { Check } from "../../conformance/contract/check.ts";
import { folderOfFile } from "../../conformance/testing/folders.ts";
import { runHere } from "../../conformance/testing/run-here.ts";
import { listening, passOn } from "../../conformance/testing/servers.ts";
import { stopAfterAll } from "../../conformance/testing/stopping.ts";
import { newClients, waitingRules, writeProfile } from "./judging.ts";
import {
  faketimeEnvironment,
  faketimeLibrary,
  startNodeUnderFaketime,
  startPython,
  type RunningService,
} from "./services.ts";

const hasLibrary = faketimeLibrary !== undefined;
const hasPython = spawnSync("python3", ["--version"]).status === 0;

const LIFETIMES = ["code.lifetime", "access.lifetime", "refresh.lifetime"] as const;

type Environment = (clockFile: string) => NodeJS.ProcessEnv;
type Start = (place: Parameters<typeof startNodeUnderFaketime>[0]) => Promise<RunningService>;

const unfollowing: Environment = () => ({});

const stopping = stopAfterAll();
const folder = folderOfFile();
const clients = newClients("https://client.example/callback");

/** Starts a service whose clock file says this at first. */
const served = async (name: string, start: Start, startsAt = "+0") => {
  const own = path.join(folder, name);
  mkdirSync(own);
  const clockFile = path.join(own, "clock");
  writeFileSync(clockFile, startsAt);
  const service = await stopping(start({ folder: own, clients }));
  return { ...writeProfile(own, name, clients, service), out: path.join(own, "run"), clockFile };
};
type Served = Awaited<ReturnType<typeof served>>;

const judged = ({ profile, env, out }: Served, rules: readonly string[] = ["code.lifetime"]) => {
  const flags = ["--profile", profile, "--only", rules.join(","), "--effort", "quick", "--seed", "8"];
  return runHere(["conform", ...flags, "--out", out], { env });
};

const verdictsIn = (out: string): Readonly<Record<string, string>> => {
  const run = JSON.parse(readFileSync(path.join(out, "run.json"), "utf8")) as {
    rules: readonly { id: string; verdict: { kind: string } }[];
  };
  return Object.fromEntries(run.rules.map(({ id, verdict }) => [id, verdict.kind]));
};

const allPassed = (rules: readonly string[]) => Object.fromEntries(rules.map((id) => [id, "passed"]));

/** The checks of the clock file and of the list's clock that doctor makes, and its exit code. */
const examined = async ({ profile, env }: Served) => {
  const { exitCode, stdout } = await runHere(["doctor", "--profile", profile, "--json"], { env });
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly Check[] };
  const named = (name: string) => checks.find(({ check }) => check === name);
  return { exitCode, check: named("hooks.clock.faketime"), list: named("clock of the list") };
};

const python =
  (environment: Environment = faketimeEnvironment): Start =>
  (place) =>
    startPython("python3", "stored", place, environment);

/** Which of two processes, 0 or 1, gets each request of this path. */
type Routing = () => (asked: string) => 0 | 1;

/** Two processes over one database, behind a front. Each keeps its own notifications, and events go to the second. */
const inTwoProcesses =
  (second: Environment, routing: Routing): Start =>
  async (place) => {
    const DATABASE = path.join(place.folder, "database");
    const start = (environment: Environment) =>
      stopping(python((file) => ({ ...environment(file), DATABASE }))(place));
    const processes = [await start(faketimeEnvironment), await start(second)] as const;
    const route = routing();
    const front = createServer((incoming, outgoing) => {
      const [asked = ""] = (incoming.url ?? "").split("?");
      passOn(processes[route(asked)].profile.baseUrl, incoming, outgoing);
    });
    const { origin, stop } = await listening(front);
    return { profile: { ...processes[1].profile, baseUrl: origin }, stop };
  };

const isList = (asked: string): boolean => asked.endsWith("/notifications");

/** Every second authorization and the exchange after it go to the second process, as do all lists. */
const inPairs: Routing = () => {
  let authorizations = 0;
  return (asked) => {
    if (asked.endsWith("/authorize")) authorizations += 1;
    return isList(asked) || authorizations % 2 === 0 ? 1 : 0;
  };
};

/** Only lists go to the second process. */
const listsApart: Routing = () => (asked) => (isList(asked) ? 1 : 0);

// Debian: apt-get install faketime.
describe.skipIf(!hasLibrary || !hasPython)(
  "a Python service under libfaketime (needs Debian's faketime and python3)",
  () => {
    it("passes all rules that wait on its clock, but for those of pushes, with its clock moved by the file alone, and doctor says that it follows", async () => {
      const service = await served("followed", python());
      const { exitCode, stdout } = await judged(service, waitingRules);
      expect(stdout).toContain("passed");
      expect(exitCode).toBe(0);
      expect(verdictsIn(service.out)).toEqual(allPassed(waitingRules));
      expect(readFileSync(service.clockFile, "utf8")).toMatch(/^\+\d{12}\.\d{6}\n$/);
      expect(await examined(service)).toMatchObject({ exitCode: 0, check: { ok: true } });
    });

    it("fails code.lifetime if its codes live five seconds too long", async () => {
      const service = python((file) => ({ ...faketimeEnvironment(file), CODE_LIFETIME_S: "605" }));
      const { exitCode, stdout } = await judged(await served("too-long", service, "+3d"));
      expect(stdout).toContain("code.lifetime");
      expect(exitCode).toBe(1);
    });

    it("is refused with exit code 2 if it does not follow the file, and doctor says so too", async () => {
      const service = await served("unfollowed", python(unfollowing));
      const says = `the service's clock does not follow "${service.clockFile}"`;
      const { exitCode, stderr } = await judged(service);
      expect(stderr).toContain(says);
      expect(stderr).toContain("FAKETIME_NO_CACHE=1");
      expect(exitCode).toBe(2);
      const doctor = await examined(service);
      expect(doctor).toMatchObject({ exitCode: 2, check: { ok: false } });
      expect(doctor.check?.message).toContain(says);
      expect(doctor.check?.remedy).toContain(`FAKETIME_TIMESTAMP_FILE="${service.clockFile}"`);
    });

    it("passes with a time that stands still in its own time zone", async () => {
      const service = python((file) => ({ ...faketimeEnvironment(file), TZ: process.env["TZ"] }));
      const { exitCode } = await judged(await served("still", service, "2026-01-31 12:00:00"));
      expect(exitCode).toBe(0);
    });
  },
);

describe.skipIf(!hasLibrary || !hasPython)(
  "a service of two processes on one file (needs Debian's faketime and python3)",
  () => {
    it("passes the rules of lifetimes if both follow the file", async () => {
      const service = await served("both", inTwoProcesses(faketimeEnvironment, inPairs));
      const { exitCode } = await judged(service, LIFETIMES);
      expect(exitCode).toBe(0);
      expect(verdictsIn(service.out)).toEqual(allPassed(LIFETIMES));
    });

    it("leaves undecided what its list would decide if the process with the list does not follow", async () => {
      const apart = inTwoProcesses(unfollowing, listsApart);
      const service = await served("lists-apart", apart);
      const { exitCode } = await judged(service, [...LIFETIMES, "lifecycle.model"]);
      expect(exitCode).toBe(3);
      expect(verdictsIn(service.out)).toEqual({
        ...allPassed(["code.lifetime", "refresh.lifetime"]),
        "access.lifetime": "could-not-run",
        "lifecycle.model": "could-not-run",
      });
      const doctor = await examined(service);
      expect(doctor).toMatchObject({ exitCode: 0, check: { ok: true } });
      expect(doctor.list).toMatchObject({ ok: "skipped" });
    });
  },
);

describe.skipIf(!hasLibrary)("a Node service under libfaketime (needs Debian's faketime)", () => {
  it("passes the rules of lifetimes, with its clock moved by the file alone", async () => {
    const service = await served("node", startNodeUnderFaketime);
    const { exitCode } = await judged(service, LIFETIMES);
    expect(exitCode).toBe(0);
    expect(verdictsIn(service.out)).toEqual(allPassed(LIFETIMES));
  });
});
