import { randomUUID } from "node:crypto";
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { profileOf, secretsOf, startFakeServer, type FakeServer } from "../../fake-server/index.ts";
import { recordFiles } from "../contract/files.ts";
import { root, runCli } from "../testing/measure.ts";
import { pause } from "../world/clock.ts";

const folder = mkdtempSync(path.join(tmpdir(), "touchstone-awaited-run-"));
const open: FakeServer[] = [];
afterAll(async () => {
  await Promise.all(open.map((fake) => fake.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** Long enough that starting a process takes a small part of it. */
const CODE_LIFETIME_MS = 8_000;

/** A service in real time whose codes live for seconds, and what the command line needs to judge it. */
const service = async (behaviour: string) => {
  const fake = await startFakeServer({
    behaviour,
    clockMode: "flowing",
    limits: { codeLifetimeMs: CODE_LIFETIME_MS },
  });
  open.push(fake);
  const home = path.join(folder, randomUUID());
  const { hooks: _, ...profile } = profileOf(fake);
  const file = path.join(folder, `${behaviour}.json`);
  writeFileSync(
    file,
    JSON.stringify({
      ...profile,
      limits: { codeLifetimeMs: CODE_LIFETIME_MS },
      tolerances: { lifetimeGuardMs: 400 },
    }),
  );
  return { file, home, env: { ...secretsOf(fake), XDG_STATE_HOME: home } };
};

type Service = Awaited<ReturnType<typeof service>>;

const keysOf = ({ home }: Service): readonly string[] => {
  const keys = path.join(home, "touchstone", "awaited");
  return existsSync(keys) ? readdirSync(keys).map((one) => path.join(keys, one)) : [];
};

/** Starts a run and kills it by force a third of its codes' life after the first was issued. */
const killedInMidWait = async ({ file, env }: Service, run: string): Promise<void> => {
  const parameters = [
    "conform",
    "--profile",
    file,
    "--only",
    "code.lifetime",
    "--seed",
    "3",
    "--effort",
    "quick",
  ];
  const child = spawn(
    process.execPath,
    [path.join(root, "cli.ts"), ...parameters, "--max-wait", "30s", "--out", run],
    {
      stdio: "ignore",
      env: { ...process.env, ...env },
    },
  );
  const gone = new Promise((resolve) => child.once("exit", resolve));
  while (!existsSync(path.join(run, recordFiles.awaited)) && child.exitCode === null) await pause(20);
  await pause(CODE_LIFETIME_MS / 3);
  child.kill("SIGKILL");
  await gone;
};

/** How many codes a run was issued in order to wait with them. */
const issuedIn = (run: string): number => {
  const lines = readFileSync(path.join(run, recordFiles.exchanges), "utf8").split("\n");
  const asked = (place: string): number =>
    lines.filter((line) => line.includes('"rule":"code.lifetime"') && line.includes(place)).length;
  // A client that is kept busy meanwhile gets two codes each time, and refreshes once.
  return asked("/authorize") - 2 * asked("/refresh-token");
};

interface Told {
  readonly outcome: string;
  readonly notes: readonly string[];
  readonly rules: readonly { readonly id: string; readonly verdict: string }[];
}

describe.concurrent("a run in real time that was killed while it waited", () => {
  it.each([
    ["sound", "passed"],
    ["code-lives-eleven-minutes", "failed"],
  ])("goes on with the codes of a %s service, and comes to %s", { retry: 2 }, async (behaviour, outcome) => {
    const target = await service(behaviour);
    const run = path.join(folder, randomUUID());
    await killedInMidWait(target, run);
    const [key = "", ...others] = keysOf(target);
    expect(others).toEqual([]);
    for (const secret of [key, path.join(run, recordFiles.awaited)])
      expect(statSync(secret).mode & 0o777).toBe(0o600);

    const next = `${run}-next`;
    const resumed = await runCli(["conform", "--resume", run, "--out", next, "--json"], { env: target.env });
    const told = JSON.parse(resumed.stdout) as Told;
    expect(told.outcome).toBe(outcome);
    expect(told.notes.join("\n")).toMatch(
      /\d+ of its cases were waiting with credentials of their own, and are gone on with/,
    );
    // Half of them it finds before their end, and may have to make anew on a busy machine, which takes more tries then.
    expect(issuedIn(run)).toBeGreaterThanOrEqual(8);
    expect(issuedIn(next)).toBeLessThanOrEqual(issuedIn(run) / 2);
    // Nothing of it is left, in either folder or beside the user's other keys.
    expect([run, next].filter((one) => existsSync(path.join(one, recordFiles.awaited)))).toEqual([]);
    expect(keysOf(target)).toEqual([]);
  });
});
